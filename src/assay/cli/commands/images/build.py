"""``assay images build``: the images of a data set."""

import json as jsonlib
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.choices import EnvironmentChoice
from assay.cli import config, exits, options
from assay.cli.loading import load_to_evaluate
from assay.harness.errors import UserError

if TYPE_CHECKING:
    from assay.harness.domain import Instance
    from assay.harness.runs.workbench import Workbench


def build(
    dataset: options.OptionalDataset = None,
    lock: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Build what this lock says, in place of a data set.", show_default=False),
    ] = None,
    ids: options.Ids = None,
    split: options.Split = None,
    jobs: options.Jobs = 1,
    mirror: options.Mirrors = None,
    recipes: options.Recipes = None,
    engine: options.EngineName = "docker",
    environment: options.Environment = EnvironmentChoice.AUTO,
    skip_bad_rows: options.SkipBadRows = False,
    json: options.Json = False,
) -> None:
    """Build every image that a data set's instances need; what is there already is not built again.

    With --lock, the images are built from the lock alone: trees by commit, packages by hash, nothing resolved again.
    Whatever then differs from the lock, such as a version that Debian no longer has, is a line, and the exit status is
    4. Names of images do not cover all that a lock says, so build only from locks of people you trust.

    \b
    Examples:
      assay images build lite -i pallets__flask-5063 --mirror ~/mirrors
      assay images build --lock images.lock --mirror ~/mirrors -j 4
    """
    from assay.cli.console import print_json, print_rows

    if (dataset is None) == (lock is None):
        raise UserError("name a data set, or a lock with --lock FILE; one of them")
    place = config.workplace(engine, mirror, recipes, environment, jobs=jobs)
    if lock is not None:
        from assay.cli.commands.images.lock_view import build_locked

        raise typer.Exit(build_locked(lock.expanduser(), ids or (), place, json=json))
    found = load_to_evaluate(dataset or "", ids, split, skip_bad_rows=skip_bad_rows)
    bench = place.bench
    with ThreadPoolExecutor(jobs) as pool:
        built = list(pool.map(_build_one, repeat(bench), found))
    if json:
        print_json(jsonlib.dumps({name: {"image": image, "error": error} for name, image, error in built}))
    else:
        print_rows(("instance", "image", "problem"), built)
    raise typer.Exit(exits.INFRASTRUCTURE if any(error for _, _, error in built) else 0)


def _build_one(bench: "Workbench", instance: "Instance") -> tuple[str, str, str]:
    """Return (instance id, image name, problem); one of the last two is empty."""
    from assay.harness.errors import EngineError, EnvironmentFailure

    try:
        return instance.id, bench.image_of(bench.settle(instance)), ""
    except (EnvironmentFailure, EngineError) as error:
        return instance.id, "", str(error)
