"""A limit for the disk that images take: what has to go, and what must stay."""

import re
from collections.abc import Callable, Collection

from assay.harness.engines.stock import KINDS, Stock, Stocked
from assay.harness.errors import UserError

UNITS = {"MB": 10**6, "GB": 10**9, "TB": 10**12}
TOP = frozenset(KINDS[KINDS.index("instance") :])
"""Kinds that nothing stands on; the one that has not been used for longest goes first."""


def bytes_of(text: str) -> int:
    """Return a size such as ``40GB`` or ``500 MB`` in bytes; raises UserError."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([MGT]B)\s*", text, re.IGNORECASE)
    if match is None or not float(match[1]):
        raise UserError(f"{text!r} is no size; write a number with MB, GB or TB, such as 40GB")
    return int(float(match[1]) * UNITS[match[2].upper()])


def in_units(size: int) -> str:
    """Return bytes in GB, or in MB below 1 GB."""
    return f"{size / 1e9:.1f} GB" if size >= UNITS["GB"] else f"{size / 1e6:.0f} MB"


def to_evict(stock: Stock, limit: int, held: Collection[str], last_used: Callable[[Stocked], float]) -> list[Stocked]:
    """Return the images that must go, in order, until the rest takes no more than the limit; all that may, if none do.

    Images of instances that have not been used for longest go first; then, of trees, environments and toolchains, from
    the top, those that free most. What is held stays, and so does what it stands on.
    """
    going: list[Stocked] = []
    while stock.size > limit:
        free = [image for image in stock.images if image.info.name not in held]
        tops = [image for image in free if image.kind in TOP or image.kind not in KINDS]
        lower = [image for image in free if image.kind not in TOP and image.kind in KINDS and stock.unique([image])]
        if tops:
            next_one = min(tops, key=last_used)
        elif lower:
            next_one = max(lower, key=lambda image: (KINDS.index(image.kind), stock.unique([image])))
        else:
            break
        going.append(next_one)
        stock = stock.without(next_one.info.name)
    return going
