"""``assay images list``: the images that Assay made, and the bytes that each has alone."""

import json as jsonlib
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli import options

if TYPE_CHECKING:
    from assay.harness.images.stock import Stock, Stocked


class Grouping(StrEnum):
    """The rows of the list."""

    IMAGE = "image"
    KIND = "kind"
    REPO = "repo"


def list_images(
    by: Annotated[
        Grouping, typer.Option(help="One row for each image, kind of image, or repository.")
    ] = Grouping.IMAGE,
    engine: options.EngineName = "docker",
    json: options.Json = False,
) -> None:
    """List the images that Assay made.

    Unique are the bytes that no other image has: removing the image frees them. Shared are those of layers that other
    images have, too.

    \b
    Examples:
      assay images list
      assay images list --by repo
      assay images list --json
    """
    from assay.cli import console
    from assay.harness.engines import open_engine
    from assay.harness.images.stock import StockTaker

    stock = StockTaker(open_engine(engine)).take()
    if json:
        console.print_json(jsonlib.dumps(as_json(stock)))
    elif by is Grouping.IMAGE:
        console.print_rows(
            ("image", "kind", "of", "unique MB", "shared MB"), [image_row(stock, i) for i in stock.images]
        )
    else:
        groups = grouped(stock, (lambda i: i.kind) if by is Grouping.KIND else (lambda i: i.owner))
        console.print_rows((str(by), "images", "unique MB", "shared MB"), [group_row(stock, *each) for each in groups])
    if not json:
        print(f"{len(stock.images)} images, {megabytes(stock.size)} MB together")


def as_json(stock: "Stock") -> dict[str, Any]:
    """Return a stock with bytes for each image, each kind and all."""
    images = [
        {
            "name": each.info.name,
            "digest": each.info.digest,
            "kind": each.kind,
            "of": each.owner,
            "size": each.size,
            "unique": stock.unique([each]),
            "shared": each.size - stock.unique([each]),
            "created": each.info.created,
            "labels": dict(each.info.labels),
        }
        for each in stock.images
    ]
    kinds = {
        kind: {"images": len(rows), "unique": stock.unique(rows)} for kind, rows in grouped(stock, lambda i: i.kind)
    }
    return {"images": images, "kinds": kinds, "size": stock.size}


def image_row(stock: "Stock", image: "Stocked") -> tuple[str, ...]:
    """Return what the table shows of an image."""
    unique = stock.unique([image])
    return image.info.name, image.kind, image.owner, megabytes(unique), megabytes(image.size - unique)


def group_row(stock: "Stock", name: str, images: "Sequence[Stocked]") -> tuple[str, ...]:
    """Return what the table shows of some images together."""
    from assay.harness.images.stock import size_of

    unique = stock.unique(images)
    return name or "-", str(len(images)), megabytes(unique), megabytes(size_of(images) - unique)


def grouped(stock: "Stock", key: "Callable[[Stocked], str]") -> "list[tuple[str, list[Stocked]]]":
    """Return the images by a key, in the order in which the keys are first met."""
    found: dict[str, list[Stocked]] = {}
    for image in stock.images:
        found.setdefault(key(image), []).append(image)
    return list(found.items())


def megabytes(size: int) -> str:
    """Return bytes as a text in MB, with a digit after the point for less than ten."""
    return f"{size / 1e6:.1f}" if size < 1e7 else f"{size / 1e6:.0f}"
