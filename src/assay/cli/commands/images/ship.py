"""``assay images push``, ``pull``, ``export`` and ``import``: images between an engine and a registry or a file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from assay.choices import EnvironmentChoice
from assay.cli import config, exits, options
from assay.cli.loading import load_to_evaluate
from assay.harness.names import count

if TYPE_CHECKING:
    from assay.jobs.ship import Shipped, Shipping
    from assay.jobs.workplace import Workplace


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
    found = load_to_evaluate(dataset, ids, split, skip_bad_rows=skip_bad_rows)
    shipping = _open_shipping(config.workplace(engine, mirror, recipes, environment, jobs=jobs))
    _report(shipping.push(found, registry), f"in {registry}", json)


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
    found = load_to_evaluate(dataset, ids, split, skip_bad_rows=skip_bad_rows)
    shipping = _open_shipping(config.workplace(engine, mirror, recipes, environment, jobs=jobs))
    _report(shipping.pull(found, registry), "on the engine", json)


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
    found = load_to_evaluate(dataset, ids, split, skip_bad_rows=skip_bad_rows)
    shipping = _open_shipping(config.workplace(engine, mirror, recipes, environment, jobs=jobs))
    _report(shipping.export(found, output), f"in {output}", json)


def import_images(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Written by `assay images export`.")],
    engine: options.EngineName = "docker",
    json: options.Json = False,
) -> None:
    """Add the images of a file to the engine; needs no network.

    Every byte is checked first, and a damaged file changes nothing. Images that are there already are not added again.
    Evaluations with this version of Assay then find the images by the data set alone: they need neither mirrors nor
    package indexes.

    \b
    Example:
      assay images import rows.oci.tar
    """
    _report(_open_shipping(config.workplace(engine)).load(file), "on the engine", json)


def _open_shipping(place: "Workplace") -> "Shipping":
    from assay.jobs.build import Images
    from assay.jobs.ship import Shipping

    return Shipping(Images(place))


def _report(shipped: "Shipped", where: str, as_json: bool) -> NoReturn:
    """Print the images and the instances that failed; exit with 3 if any did."""
    from assay.cli.console import print_json

    if as_json:
        about = {
            "images": shipped.images,
            "moved": shipped.moved,
            "instances": {each.instance_id: each.result for each in shipped.done if each.result},
            "problems": {each.instance_id: each.error for each in shipped.failed},
            "bytes": shipped.size,
            "seconds": round(shipped.seconds, 1),
        }
        print_json(about)
    else:
        for each in shipped.failed:
            print(f"{each.instance_id}: {each.error}")
        size = f" ({shipped.size / 1e6:.0f} MB)" if shipped.size else ""
        there = len(shipped.images) - len(shipped.moved)
        already = f", {there} of them already" if there > 0 else ""
        print(f"{count(len(shipped.images), 'image')} {where}{size}{already}, in {shipped.seconds:.1f} s")
    raise typer.Exit(exits.INFRASTRUCTURE if shipped.failed else 0)
