"""``assay images check``: the images of a lock, compared with an engine's."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli import config, exits, options


def check(
    lock: Annotated[Path, typer.Argument(metavar="LOCK", help="File of assay images lock.")],
    ids: options.Ids = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Count another build as different, even if it holds the same.")
    ] = False,
    jobs: options.Jobs = options.CORES,
    engine: options.EngineName = "docker",
    json: options.Json = False,
) -> None:
    """Compare the images of a lock with those of an engine: are all there, and do they hold the same?

    An image with the locked digest is the same. Another build of it is as good if labels, packages and commit are the
    same. Each other difference is a line, and the exit status is then 4.

    \b
    Examples:
      assay images check images.lock
      assay images check images.lock --exact --json
    """
    from assay.cli import console
    from assay.cli.commands.images.lock_view import print_states
    from assay.instances.environments.images_lock import read_lock
    from assay.jobs.lock import check_images, is_as_locked, select

    wanted = select(read_lock(lock.expanduser()), ids or ())
    bench = config.workplace(engine).bench
    states = check_images(wanted, bench.engine, jobs, console.show_count, exact=exact)
    if json:
        console.print_json({"images": list(states)})
    else:
        print_states(states)
    raise typer.Exit(0 if is_as_locked(states) else exits.INVALID)
