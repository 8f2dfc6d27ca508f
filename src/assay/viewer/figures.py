"""Figures as a person reads them. What is unknown, or no number, is a dash."""

import math
from collections.abc import Callable, Mapping

NONE = "\N{EN DASH}"
MINUTE = 60


def percent(share: float | None, digits: int = 1) -> str:
    return NONE if share is None or not math.isfinite(share) else f"{100 * share:.{digits}f}\u202f%"


def points(difference: float | None) -> str:
    """Return a difference of two shares in percentage points, with its sign."""
    return NONE if difference is None or not math.isfinite(difference) else f"{100 * difference:+.1f}"


def money(dollars: float | None) -> str:
    """Return an amount in US dollars; small ones with more digits."""
    if dollars is None or not math.isfinite(dollars):
        return NONE
    return f"${dollars:,.2f}" if dollars >= 1 or not dollars else f"${dollars:.4f}"


def count(number: float | None) -> str:
    return NONE if number is None or not math.isfinite(number) else f"{number:,.0f}"


def things(number: int, noun: str, plural: str = "") -> str:
    """Return a number of things in words; ``plural`` for nouns with another ending than s."""
    return f"{count(number)} {noun if number == 1 else plural or noun + 's'}"


def size(number: int) -> str:
    if number < 1000:
        return f"{number} B"
    return f"{number / 1000:.1f} kB" if number < 1_000_000 else f"{number / 1_000_000:.1f} MB"


def time(stamp: str) -> str:
    """Return an ISO time, to the minute."""
    return stamp[:16].replace("T", " ")


def seconds(value: float | None) -> str:
    if value is None or not math.isfinite(value):
        return NONE
    if value < 10:
        return f"{value:.2f} s"
    if value < MINUTE:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), MINUTE)
    return f"{minutes} min {rest:02} s" if minutes < MINUTE else f"{minutes // MINUTE} h {minutes % MINUTE:02} min"


def border(value: float) -> str:
    """Return a round time in seconds, without empty parts."""
    if value < MINUTE:
        return f"{value:g} s"
    minutes, rest = divmod(value, MINUTE)
    hours, minutes = divmod(minutes, MINUTE)
    parts = ((hours, "h"), (minutes, "min"), (rest, "s"))
    return " ".join(f"{number:g} {unit}" for number, unit in parts if number)


def probability(p: float | None) -> str:
    if p is None or not math.isfinite(p):
        return NONE
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def words(name: str) -> str:
    """Return a name of a closed list, such as ``unfixed_like_base``, as words."""
    return name.replace("_", " ")


FILTERS: Mapping[str, Callable[..., str]] = {
    each.__name__: each for each in (percent, points, money, count, things, size, time, seconds, probability, words)
}
