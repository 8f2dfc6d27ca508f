"""``assay report html``: the pages of ``assay view`` as files."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli import options


def html(
    runs: options.RunNames,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Folder to write; new, empty or of an earlier report.")
    ],
    runs_dir: options.RunsDir = options.RUNS_DIR,
    json: options.Json = False,
) -> None:
    """Write the pages of `assay view` as files that open without a server and without a network.

    The raw files that the pages link to are copied beside them. Secrets are taken out of both, patches among them. In a
    folder of an earlier report, files are replaced and none is removed.

    \b
    Examples:
      assay report html releases.gold -o report
      assay report html runs/mine runs/yours -o report --json
    """
    from collections import Counter

    from assay.cli import console
    from assay.cli.loading import find_views
    from assay.harness.redaction import describe
    from assay.viewer.export import every_page, write_pages

    viewer = find_views(runs, runs_dir)
    addresses, taken = every_page(viewer), Counter[str]()
    with console.show_count(len(addresses), "pages") as wrote:
        written = write_pages(viewer, output, addresses, wrote, taken)
    first = output / "index.html"
    if json:
        console.print_json({"pages": written, "index": str(first), "runs": [*viewer.runs], "redacted": taken})
        return
    print("; ".join(filter(None, (f"{written} pages", describe(taken, {}), f"open {first}"))))
