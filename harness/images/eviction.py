"""A limit for the disk that images take: what has to go, and what must stay."""

import re
from collections.abc import Callable, Collection

from assay.harness.errors import UserError
from assay.harness.images.stock import KINDS, Stock, Stocked

UNITS = {"MB": 10**6, "GB": 10**9, "TB": 10**12}
BELOW = frozenset(KINDS[: KINDS.index("instance")])  # kinds on which other images stand


def parse_size(text: str) -> int:
    """Read a size such as ``40GB`` or ``500 MB``, in bytes; raises UserError."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([MGT]B)\s*", text, re.IGNORECASE)
    if match is None or not float(match[1]):
        raise UserError(f"{text!r} is no size; write a number with MB, GB or TB, such as 40GB")
    return int(float(match[1]) * UNITS[match[2].upper()])


def format_size(size: int) -> str:
    """Format bytes in GB, or in MB below 1 GB."""
    return f"{size / 1e9:.1f} GB" if size >= UNITS["GB"] else f"{size / 1e6:.0f} MB"


def select_evictions(
    stock: Stock, limit: int, held: Collection[str], last_used: Callable[[Stocked], float]
) -> list[Stocked]:
    """Choose the images that must go, in order, until the rest fits into the limit; all that may, if it never does.

    The image that was unused for longest goes first. An image was used when one that stands on it was: a tree goes
    after its instances, and before those of another tree that were used later. A held image stays, and so does what it
    stands on.
    """
    used, levels = _uses(stock, last_used), {kind: level for level, kind in enumerate(KINDS)}
    going: list[Stocked] = []
    for image in sorted(stock.images, key=lambda each: (used[each.info.name], -levels.get(each.kind, len(KINDS)))):
        if stock.size <= limit:
            break
        bears = image.kind in BELOW and not stock.unique([image])
        if image.info.name not in held and not bears:
            going.append(image)
            stock = stock.without(image.info.name)
    return going


def _uses(stock: Stock, last_used: Callable[[Stocked], float]) -> dict[str, float]:
    """Return when each image, or one that stands on it, was used last."""
    by_layer: dict[str, float] = {}
    for image in stock.images:
        when = last_used(image)
        for layer in image.layers:
            by_layer[layer.id] = max(when, by_layer.get(layer.id, 0.0))
    return {
        image.info.name: by_layer[image.layers[-1].id] if image.layers else last_used(image) for image in stock.images
    }
