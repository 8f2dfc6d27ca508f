"""``assay reap``: removes containers of dead processes."""

from typing import Annotated

import typer

from assay.cli import options
from assay.harness.names import count


def reap(
    everything: Annotated[bool, typer.Option("--all", help="Also containers of runs that are at work.")] = False,
    engine: options.EngineName = "docker",
    json: options.Json = False,
) -> None:
    """Remove containers whose process is dead or whose deadline has passed.

    \b
    Example:
      assay reap
    """
    from assay.cli import console
    from assay.harness.engines import open_engine

    removed = open_engine(engine).reap(everything=everything)
    if json:
        console.print_json({"removed": removed})
    else:
        print(f"removed {count(len(removed), 'container')}")
