"""``assay images import``: the images of a file, for an engine."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli import config, options


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
    from assay.cli.commands.images.shipping_view import show
    from assay.jobs.build import Images
    from assay.jobs.ship import Shipping

    shipped = Shipping(Images(config.workplace(engine))).load(file)
    raise typer.Exit(show(shipped, "on the engine", as_json=json))
