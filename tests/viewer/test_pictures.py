"""Pictures of runs: what they show, and figures that are none."""

import math

import pytest

from assay.harness.domain import Outcome, PatchDiffFinding
from assay.harness.statistics import wilson
from assay.viewer.charts import Picture
from assay.viewer.pictures import (
    GROUP_OF,
    SHOWN,
    RunPoint,
    StepTokens,
    cost_against_rate,
    findings_picture,
    outcomes_by_repository,
    overlap,
    time_distribution,
    tokens_by_step,
)


def check_drawn(picture: Picture | None) -> Picture:
    """Return a picture whose every shape has finite places in it."""
    assert picture is not None
    for box in picture.boxes:
        assert 0 <= box.x <= box.x + box.width <= picture.width + 0.2
        assert 0 <= box.y <= box.y + box.height <= picture.height
    for dot in picture.dots:
        assert 0 <= dot.x <= picture.width
        assert 0 <= dot.y <= picture.height
    for label in picture.labels:
        assert math.isfinite(label.x + label.y)
    for row in picture.table.rows:
        assert len(row) == len(picture.table.columns)
    return picture


def test_every_outcome_belongs_to_one_group() -> None:
    assert set(GROUP_OF) == set(Outcome)


def test_outcomes_by_repository_are_parted_and_ordered_by_size() -> None:
    picture = check_drawn(
        outcomes_by_repository(
            {
                "acme/small": {Outcome.RESOLVED: 1},
                "acme/large": {Outcome.RESOLVED: 1, Outcome.UNRESOLVED: 2, Outcome.TIMED_OUT: 1, Outcome.NOT_RUN: 1},
                "acme/none": {},
            }
        )
    )
    columns = ("repository", "resolved", "unresolved", "tests did not end", "all", "resolved rate")
    assert picture.table.columns == columns
    assert picture.table.rows == (
        ("acme/large", "1", "2", "2", "5", "20.0\u202f%"),
        ("acme/small", "1", "0", "0", "1", "100.0\u202f%"),
    )
    large = [box for box in picture.boxes if box.y == picture.boxes[0].y]
    assert [box.kind for box in large] == ["fill-resolved", "fill-unresolved", "fill-unfinished"]
    assert large[1].width == pytest.approx(2 * large[0].width, abs=0.2)


def test_many_repositories_share_the_last_bar() -> None:
    picture = outcomes_by_repository({f"acme/r{number:02}": {Outcome.RESOLVED: 1} for number in range(100)})
    assert picture is not None
    assert len(picture.table.rows) == SHOWN
    assert picture.table.rows[-1] == ("81 others", "81", "81", "100.0\u202f%")


def test_nothing_to_show_is_no_picture() -> None:
    assert outcomes_by_repository({}) is None
    assert time_distribution([]) is None
    assert time_distribution([(None, True), (math.nan, False)]) is None
    assert cost_against_rate([RunPoint("a", None, 3, wilson(1, 3)), RunPoint("b", 1.0, 0, wilson(0, 0))]) is None
    assert overlap(["a", "b"], []) is None
    assert tokens_by_step([StepTokens(1, 0, 0)]) is None
    assert findings_picture({}) is None


def test_times_are_counted_between_round_borders() -> None:
    times = [(0.3, True), (1.0, True), (4.0, False), (4.9, True), (700.0, False), (math.inf, True)]
    picture = check_drawn(time_distribution(times))
    rows = {row[0]: row[1:] for row in picture.table.rows}
    assert rows["0.25 s to 0.5 s"] == ("1", "0", "1")
    assert rows["1 s to 2 s"] == ("1", "0", "1"), "a time on a border belongs to the bar above it"
    assert rows["4 s to 8 s"] == ("1", "1", "2")
    assert rows["8 min to 15 min"] == ("0", "1", "1")
    assert sum(int(row[-1]) for row in picture.table.rows) == 5
    assert "half of them took 4.00 s or less" in picture.description


@pytest.mark.parametrize("times", [[5.0], [0.0], [5.0, 5.1, 5.2, 5.3], [1e6, 2e6], [86399.0, 86401.0]])
def test_times_that_hardly_differ_are_all_counted(times: list[float]) -> None:
    picture = check_drawn(time_distribution([(each, True) for each in times]))
    assert sum(int(row[-1]) for row in picture.table.rows) == len(times)


def test_cost_is_of_one_instance_and_a_run_without_it_is_only_in_the_table() -> None:
    points = [
        RunPoint("cheap", 1.0, 10, wilson(2, 10)),
        RunPoint("dear", 8.0, 10, wilson(9, 10)),
        RunPoint("unknown", math.nan, 10, wilson(5, 10)),
    ]
    picture = check_drawn(cost_against_rate(points))
    cheap, dear = picture.dots
    assert cheap.x < dear.x
    assert cheap.y > dear.y, "a higher rate is further up"
    assert [row[:4] for row in picture.table.rows] == [
        ("cheap", "$0.1000", "$1.00", "20.0\u202f%"),
        ("dear", "$0.8000", "$8.00", "90.0\u202f%"),
        ("unknown", "\N{EN DASH}", "\N{EN DASH}", "50.0\u202f%"),
    ]


def test_overlap_counts_instances_that_just_these_runs_resolve() -> None:
    both, first, none = frozenset({0, 1}), frozenset({0}), frozenset[int]()
    picture = check_drawn(overlap(["a", "b"], [both, both, both, first, none, none]))
    assert picture.table.rows == (("all runs", "3"), ("no run", "2"), ("a", "1"))
    assert [box.kind for box in picture.boxes] == ["fill-resolved", "fill-nobody", "fill-resolved"]
    assert [dot.kind for dot in picture.dots] == ["member", "member", "absent", "absent", "member", "absent"]


def test_overlap_of_many_runs_draws_the_largest_groups_and_lists_all() -> None:
    groups = [frozenset({number % 6, number // 6 % 6}) for number in range(36)]
    picture = check_drawn(overlap([f"run {number}" for number in range(6)], groups))
    assert sum(int(row[1]) for row in picture.table.rows) == 36


def test_tokens_of_many_steps_share_bars() -> None:
    picture = check_drawn(tokens_by_step([StepTokens(number, 100, 10) for number in range(1, 2001)]))
    assert picture.table.rows[0] == ("steps 1 to 14", "1,400", "140")
    assert {box.step for box in picture.boxes[:2]} == {1}


def test_findings_are_in_order_of_their_severity() -> None:
    picture = check_drawn(findings_picture({PatchDiffFinding.NOT_ASSESSED: 1, PatchDiffFinding.REGRESSION: 2}))
    assert picture.table.rows == (("regression", "2"), ("not assessed", "1"))
