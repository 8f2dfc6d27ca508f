"""``assay images push``: the images of a data set and a registry, from which other machines pull them."""

import typer

from assay.choices import EnvironmentChoice
from assay.cli import config, options
from assay.cli.loading import load_to_evaluate


def push(
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
    """Send the images of a data set to a registry, under names that are hashes of what they are made of.

    Missing images are built first. What the registry has already is not sent again, so a cluster builds and sends each
    image once. The engine must trust the registry; its credentials are those of `docker login`.

    \b
    Example:
      assay images push rows.jsonl --registry registry.example:5000/assay -j 4
    """
    from assay.cli.commands.images.shipping_view import show
    from assay.jobs.build import Images
    from assay.jobs.ship import Shipping

    found = load_to_evaluate(dataset, ids, split, skip_bad_rows=skip_bad_rows)
    place = config.workplace(engine, mirror, recipes, environment, jobs=jobs)
    shipped = Shipping(Images(place)).push(found, registry)
    raise typer.Exit(show(shipped, f"in {registry}", as_json=json))
