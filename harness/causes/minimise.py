"""Delta debugging (ddmin): the smallest of some units with which something still holds. Pure."""

from collections.abc import Callable, Hashable, Sequence
from itertools import chain
from typing import TypeVar

Unit = TypeVar("Unit", bound=Hashable)
Holds = Callable[[Sequence[Unit]], bool]
FEW = 3
SOME = 12
"""Units from which on half of them are tried, and half of that as long as it holds; of fewer, most may be needed."""
MANY = 24
"""Units from which on ``CHUNKS`` of them are left out in turns before single ones are."""
CHUNKS = 8


def minimise(units: Sequence[Unit], holds: Holds[Unit], guesses: Sequence[Sequence[Unit]] = ()) -> list[Unit]:
    """Return units that hold and need each other: without any one they do not. All ``units`` hold.

    ``holds`` is asked some questions twice, and should remember. The fewer units are needed, and the nearer to the
    beginning they are, the fewer questions it takes.

    Args:
        units: those most likely needed first.
        holds: is given units in their order.
        guesses: parts of the units that might do, tried in this order before anything else.
    """
    failed: list[set[Unit]] = []

    def may_do(part: Sequence[Unit]) -> bool:
        """Ask, unless more than this part did not do: likely enough where nothing depends on it."""
        if any(known.issuperset(part) for known in failed):
            return False
        if holds(part):
            return True
        failed.append({*part})
        return False

    kept = next(([*guess] for guess in guesses if len(guess) < len(units) and may_do(guess)), [*units])
    least = SOME
    while len(kept) >= least and may_do(kept[: len(kept) // 2]):
        kept, least = kept[: len(kept) // 2], FEW
    if len(kept) >= MANY:
        kept = leave_out(kept, len(kept) // CHUNKS, may_do)
    return leave_out_each(kept, holds)


def leave_out_each(units: Sequence[Unit], holds: Holds[Unit]) -> list[Unit]:
    """Return the units that are left when single ones are left out until none can be.

    A unit that was needed among others need not be among fewer.
    """
    kept, before = [*units], list[Unit]()
    while kept != before:
        before, kept = kept, leave_out(kept, 1, holds)
    return kept


def leave_out(units: Sequence[Unit], size: int, holds: Holds[Unit]) -> list[Unit]:
    """Return the units that are left when each run of ``size`` units is left out where the others hold."""
    chunks = [[*units[at : at + size]] for at in range(0, len(units), size)]
    for number in reversed(range(len(chunks))):
        others = [*chunks[:number], *chunks[number + 1 :]]
        if holds([*chain(*others)]):
            chunks = others
    return [*chain(*chunks)]
