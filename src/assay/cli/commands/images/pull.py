"""``assay images pull``: the images of a data set and a registry that has them."""

import typer

from assay.choices import EnvironmentChoice
from assay.cli import config, options
from assay.cli.loading import load_to_evaluate


def pull(
    dataset: options.Dataset,
    registry: options.RegistryToUse,
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
    """Fetch the images of a data set from a registry; nothing is built.

    The other machine must have pushed with the same version of Assay. Evaluations then need neither mirrors nor package
    indexes.

    \b
    Example:
      assay images pull rows.jsonl --registry registry.example:5000/assay -j 4
    """
    from assay.cli.commands.images.shipping_view import show
    from assay.jobs.build import Images
    from assay.jobs.ship import Shipping

    found = load_to_evaluate(dataset, ids, split, skip_bad_rows=skip_bad_rows)
    place = config.workplace(engine, mirror, recipes, environment, jobs=jobs)
    shipped = Shipping(Images(place)).pull(found, registry)
    raise typer.Exit(show(shipped, "on the engine", as_json=json))
