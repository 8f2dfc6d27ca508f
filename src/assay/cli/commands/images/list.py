"""``assay images list``: the images that Assay made, and the bytes that each has alone."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli import options

if TYPE_CHECKING:
    from assay.harness.images.stock import Stock, Stocked


class Grouping(StrEnum):
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
        console.print_json(_describe(stock))
        return
    rows: list[tuple[str, ...]]
    if by is Grouping.IMAGE:
        rows = [(each.info.name, each.kind, each.owner, *_share_sizes(stock, [each])) for each in stock.images]
        console.print_rows(("image", "kind", "of", "unique MB", "shared MB"), rows)
    else:
        groups = _group(stock, (lambda i: i.kind) if by is Grouping.KIND else (lambda i: i.owner))
        rows = [(name or "-", str(len(images)), *_share_sizes(stock, images)) for name, images in groups.items()]
        console.print_rows((str(by), "images", "unique MB", "shared MB"), rows)
    print(f"{len(stock.images)} images, {format_megabytes(stock.size)} MB together")


def _describe(stock: "Stock") -> dict[str, Any]:
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
        kind: {"images": len(rows), "unique": stock.unique(rows)}
        for kind, rows in _group(stock, lambda i: i.kind).items()
    }
    return {"images": images, "kinds": kinds, "size": stock.size}


def _share_sizes(stock: "Stock", images: "Sequence[Stocked]") -> tuple[str, str]:
    """Return the MB that only these images have, and the MB that they share with others."""
    from assay.harness.images.stock import count_bytes

    unique = stock.unique(images)
    return format_megabytes(unique), format_megabytes(count_bytes(images) - unique)


def _group(stock: "Stock", key: "Callable[[Stocked], str]") -> "dict[str, list[Stocked]]":
    groups: dict[str, list[Stocked]] = {}
    for image in stock.images:
        groups.setdefault(key(image), []).append(image)
    return groups


def format_megabytes(size: int) -> str:
    """Format bytes in MB, with a digit after the point for less than ten."""
    return f"{size / 1e6:.1f}" if size < 1e7 else f"{size / 1e6:.0f}"
