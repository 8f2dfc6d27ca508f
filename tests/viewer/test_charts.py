"""Scales, ticks and labels, worked out by hand."""

import math

import pytest

from assay.viewer.charts import Dot, Scale, count_ticks, cut, finite, place_labels, ticks


@pytest.mark.parametrize("high", [0, 1, 2, 3, 4, 5, 7, 9, 10, 19, 100, 12345])
def test_ticks_of_counts_are_whole_numbers_and_reach_the_highest(high: int) -> None:
    found = count_ticks(high, 4)
    assert all(each == int(each) for each in found)
    assert found[-1] >= high
    assert len(found) <= 6


@pytest.mark.parametrize(
    ("high", "expected"),
    [
        (1, (0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        (9, (0, 2, 4, 6, 8, 10)),
        (100, (0, 20, 40, 60, 80, 100)),
        (0.013, (0, 0.005, 0.01, 0.015)),
        (0, (0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        (math.nan, (0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        (math.inf, (0, 0.2, 0.4, 0.6, 0.8, 1.0)),
    ],
)
def test_ticks_are_round_and_reach_the_highest_figure(high: float, expected: tuple[float, ...]) -> None:
    assert ticks(high) == pytest.approx(expected)


def test_scale_keeps_figures_inside_the_picture() -> None:
    scale = Scale(0, 10, 100, 0)
    assert [scale(figure) for figure in (0, 5, 10, 20, -1)] == [100, 50, 0, 0, 100]
    assert Scale(3, 3, 0, 100)(3) == 0


def test_figures_that_are_no_numbers_are_left_out() -> None:
    assert finite([1.5, None, math.nan, math.inf, -math.inf, -1, 0]) == [1.5, 0]


def test_text_of_several_lines_becomes_one_that_fits() -> None:
    assert cut("a\n  b\tc", 10) == "a b c"
    assert cut("abcdefghij", 5) == "abcd…"


def test_labels_of_one_place_do_not_overlap_and_stay_in_the_picture() -> None:
    dots = [
        (Dot(300, 50, "series-1"), "first"),
        (Dot(301, 50, "series-2"), "second"),
        (Dot(598, 50, "series-3"), "end"),
    ]
    labels = place_labels(dots, right=600)
    assert len({label.y for label in labels[:2]}) == 2
    assert (labels[0].x, labels[0].anchor) == (309, "start")
    assert (labels[2].x, labels[2].anchor) == (589, "end")
