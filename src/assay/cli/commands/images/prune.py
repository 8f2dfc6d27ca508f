"""``assay images prune``: removes images that Assay made."""

import json as jsonlib
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli import options
from assay.harness.names import count

if TYPE_CHECKING:
    from assay.harness.engines import Engine, ImageInfo


def prune(
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            help="agent, grading, instance, published (these by default), environment or toolchain; may be repeated.",
            show_default=False,
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Images of every kind.")] = False,
    engine: options.EngineName = "docker",
    json: options.Json = False,
) -> None:
    """Remove images that Assay made; the next evaluation builds again what it needs.

    \b
    Examples:
      assay images prune
      assay images prune --all
    """
    from assay.cli import console
    from assay.harness.engines import open_engine
    from assay.harness.errors import UserError

    known = ("agent", "grading", "instance", "published", "environment", "toolchain")
    wanted = set(known if everything else kinds or known[:4])
    if not wanted <= set(known):
        raise UserError(f"--kind must be one of {', '.join(known)}")
    opened = open_engine(engine)
    removed = _remove(opened, [image for image in opened.list_images() if _kind(image) in wanted])
    if json:
        console.print_json(jsonlib.dumps({"removed": removed}))
    else:
        print(f"removed {count(len(removed), 'image')}; the builder's own cache goes with: docker builder prune")


def _remove(engine: "Engine", images: "list[ImageInfo]") -> list[str]:
    # An image can only go when none is built on it, so the upper layers go first.
    order = {"agent": 0, "grading": 0, "instance": 1, "environment": 2, "toolchain": 3}
    names = [image.name for image in sorted(images, key=lambda image: order.get(_kind(image), 0))]
    for name in names:
        engine.remove_image(name)
    return names


def _kind(image: "ImageInfo") -> str:
    return image.labels.get("assay.kind", "")
