"""``assay images prune``: removes images that Assay made."""

from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli import options
from assay.harness.names import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.harness.images.shelf import Shelf
    from assay.harness.images.stock import Stock, Stocked

USUAL = ("agent", "grading", "instance", "published")
DAY = 86400.0


def prune(
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            help="agent, grading, instance, published (the default), tree, environment or toolchain; may be repeated.",
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Images of every kind.")] = False,
    older: Annotated[
        float | None, typer.Option(min=0, metavar="DAYS", help="Only images that were not used for so long.")
    ] = None,
    disk: options.Disk = "",
    engine: options.EngineName = "docker",
    json: options.Json = False,
) -> None:
    """Remove images that Assay made; the next evaluation builds again what it needs.

    What the builder kept of them goes, too. Images that a running command needs stay. With --disk, images that have
    not been used for longest go until the others take no more than that; one that others stand on goes after them.

    \b
    Examples:
      assay images prune
      assay images prune --older 30
      assay images prune --disk 40GB
      assay images prune --all
    """
    from assay.cli import console
    from assay.harness.engines import open_engine
    from assay.harness.errors import UserError
    from assay.harness.files import default_cache
    from assay.harness.images.eviction import format_size
    from assay.harness.images.shelf import Shelf
    from assay.harness.images.stock import KINDS, StockTaker
    from assay.harness.images.uses import Uses

    wanted = set(KINDS if everything else kinds or USUAL)
    if not wanted <= set(KINDS):
        raise UserError(f"--kind must be one of {', '.join(KINDS)}")
    if disk and (everything or kinds or older is not None):
        raise UserError("--disk chooses by itself what goes; leave out --kind, --all and --older")
    shelf = Shelf(open_engine(engine), Uses(default_cache() / "uses"), note=console.say)
    before = StockTaker(shelf.engine).take()
    going = _select_over_budget(before, shelf, disk) if disk else _select(before, wanted, older, shelf)
    removed = shelf.remove(going)
    after = StockTaker(shelf.engine).take()
    if json:
        console.print_json({"removed": removed, "freed": before.size - after.size, "left": after.size})
    else:
        stayed = f", {len(going) - len(removed)} in use stayed" if len(going) > len(removed) else ""
        freed, left = format_size(before.size - after.size), format_size(after.size)
        print(f"removed {count(len(removed), 'image')}{stayed}: {freed} freed, {left} left")


def _select_over_budget(stock: "Stock", shelf: "Shelf", disk: str) -> "Sequence[Stocked]":
    from assay.harness.images.eviction import parse_size, select_evictions

    return select_evictions(
        stock, parse_size(disk), shelf.uses.find_held(), lambda image: shelf.uses.last_used(image.info)
    )


def _select(stock: "Stock", kinds: set[str], older: float | None, shelf: "Shelf") -> "Sequence[Stocked]":
    """Select images of some kinds that were not used for ``older`` days, images before those they stand on."""
    import time

    latest = float("inf") if older is None else time.time() - older * DAY
    return [
        image for image in reversed(stock.images) if image.kind in kinds and shelf.uses.last_used(image.info) <= latest
    ]
