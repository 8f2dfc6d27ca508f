"""``assay images export``: the images of a data set as one file."""

from pathlib import Path
from typing import Annotated

import typer

from assay.choices import EnvironmentChoice
from assay.cli import config, options
from assay.cli.loading import load_to_evaluate


def export(
    dataset: options.Dataset,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="File to write.")],
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
    """Write all images that evaluations of a data set need into one file, each layer once.

    Missing images are built first. The same command continues after an interruption. The file is an OCI archive:
    `assay images import` reads it without a network, and so do `docker load`, podman and skopeo.

    \b
    Examples:
      assay images export rows.jsonl -o rows.oci.tar --mirror ~/mirrors
      assay images export releases -i pallets__flask-2.3.2 -o flask.oci.tar
    """
    from assay.cli.commands.images.shipping_view import show
    from assay.jobs.build import Images
    from assay.jobs.ship import Shipping

    found = load_to_evaluate(dataset, ids, split, skip_bad_rows=skip_bad_rows)
    place = config.workplace(engine, mirror, recipes, environment, jobs=jobs)
    shipped = Shipping(Images(place)).export(found, output)
    raise typer.Exit(show(shipped, f"in {output}", as_json=json))
