"""Delta debugging (ddmin): the smallest of some units with which something still holds. Pure."""

from collections.abc import Callable, Sequence
from itertools import chain
from typing import TypeVar

Unit = TypeVar("Unit")
FEW = 3  # units that are left out one by one at once
QUARTERS = 4


def minimise(
    units: Sequence[Unit], holds: Callable[[Sequence[Unit]], bool], guesses: Sequence[Sequence[Unit]] = ()
) -> list[Unit]:
    """Return units that hold and need each other: without any one they do not. All ``units`` hold.

    ``holds`` is asked some questions twice, and should remember. The fewer units are needed, and the nearer to the
    beginning they are, the fewer questions it takes.

    Args:
        units: those most likely needed first.
        holds: is given units in their order.
        guesses: parts of the units that might do, tried in this order before anything else.
    """
    kept = next(([*guess] for guess in guesses if len(guess) < len(units) and holds(guess)), [*units])
    while len(kept) > FEW and holds(kept[: (len(kept) + 1) // 2]):
        kept = kept[: (len(kept) + 1) // 2]
    size = len(kept) // QUARTERS
    while size > 1:
        kept = leave_out(kept, size, holds)
        size //= QUARTERS
    return leave_out_each(kept, holds)


def leave_out_each(units: Sequence[Unit], holds: Callable[[Sequence[Unit]], bool]) -> list[Unit]:
    """Return the units that are left when single ones are left out until none can be.

    A unit that was needed among others need not be among fewer.
    """
    kept, before = [*units], list[Unit]()
    while kept != before:
        before, kept = kept, leave_out(kept, 1, holds)
    return kept


def leave_out(units: Sequence[Unit], size: int, holds: Callable[[Sequence[Unit]], bool]) -> list[Unit]:
    """Return the units that are left when each run of ``size`` units is left out where the others hold."""
    chunks = [[*units[at : at + size]] for at in range(0, len(units), size)]
    for number in reversed(range(len(chunks))):
        others = [*chunks[:number], *chunks[number + 1 :]]
        if holds([*chain(*others)]):
            chunks = others
    return [*chain(*chunks)]
