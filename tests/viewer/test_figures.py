"""Figures as a person reads them."""

import math
from collections.abc import Callable

import pytest

from assay.viewer import figures


@pytest.mark.parametrize(
    "write", [figures.percent, figures.points, figures.money, figures.count, figures.seconds, figures.probability]
)
@pytest.mark.parametrize("figure", [None, math.nan, math.inf, -math.inf])
def test_unknown_figure_is_a_dash(write: Callable[[float | None], str], figure: float | None) -> None:
    assert write(figure) == "\N{EN DASH}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (figures.percent(0.1234), "12.3\u202f%"),
        (figures.percent(1, 0), "100\u202f%"),
        (figures.points(-0.031), "-3.1"),
        (figures.points(0.5), "+50.0"),
        (figures.money(0), "$0.00"),
        (figures.money(1234.5), "$1,234.50"),
        (figures.money(0.0123), "$0.0123"),
        (figures.count(1234567), "1,234,567"),
        (figures.size(999), "999 B"),
        (figures.size(25_400), "25.4 kB"),
        (figures.time("2026-11-23T01:02:03+00:00"), "2026-11-23 01:02"),
        (figures.seconds(0), "0.00 s"),
        (figures.seconds(1.26), "1.26 s"),
        (figures.seconds(30), "30.0 s"),
        (figures.seconds(65), "1 min 05 s"),
        (figures.seconds(3900), "1 h 05 min"),
        (figures.border(0.5), "0.5 s"),
        (figures.border(120), "2 min"),
        (figures.border(5430), "1 h 30 min 30 s"),
        (figures.border(0), "0 s"),
        (figures.probability(0.0004), "< 0.001"),
        (figures.probability(0.25), "0.250"),
        (figures.words("unfixed_like_base"), "unfixed like base"),
    ],
)
def test_figure_is_written_for_a_person(text: str, expected: str) -> None:
    assert text == expected


@pytest.mark.parametrize(("number", "shown"), [(0, "0 runs"), (1, "1 run"), (1234, "1,234 runs")])
def test_things_are_counted_in_words(number: int, shown: str) -> None:
    assert figures.things(number, "run") == shown
