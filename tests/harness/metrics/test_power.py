"""Power of a set of rows: figures by hand, and the chance of finding what is said to be found."""

from random import Random

import pytest

from assay.harness.metrics.power import correlate, count_effective, estimate_power, find_difference
from assay.harness.statistics import mcnemar


def test_rows_of_one_repository_count_for_less() -> None:
    assert count_effective([10], 0.0) == 10
    assert count_effective([10], 1.0) == pytest.approx(1)
    assert count_effective([1] * 10, 0.5) == pytest.approx(10)
    assert count_effective([4, 1], 0.5) == pytest.approx(5 / (1 + (17 / 5 - 1) * 0.5))
    assert count_effective([], 0.5) == 0


def test_a_repository_that_outweighs_the_others_adds_less_than_nothing() -> None:
    found = estimate_power(["a/a"] * 90 + [f"b/{number}" for number in range(10)], 0.2, 0.5)
    assert found.rows["a/a"] == 90
    assert found.adds["a/a"] < 0 < found.adds["b/1"]
    assert found.effective_rows < 10
    assert found.unclustered_difference < found.difference


def test_the_difference_that_is_named_is_found_with_the_chance_that_is_named() -> None:
    rows, differ, trials = 400, 0.2, 300
    difference = find_difference(rows, differ, 0.05, 0.8)
    assert difference == pytest.approx(0.0627, abs=0.001)  # 2.80 * sqrt((0.2 - 0.0627²) / 400)
    draw, found = Random(0), 0
    for _ in range(trials):
        one = sum(draw.random() < (differ + difference) / 2 for _ in range(rows))
        other = sum(draw.random() < (differ - difference) / 2 for _ in range(rows))
        found += mcnemar(one, other) < 0.05
    assert 0.7 < found / trials < 0.88


def test_no_fewer_rows_differ_than_the_difference_says() -> None:
    assert find_difference(50, 0.01, 0.05, 0.8) > 0.01
    assert find_difference(50, 0.0, 0.05, 0.8) == find_difference(50, 0.01, 0.05, 0.8)


def test_correlation_is_that_of_groups() -> None:
    repos = {"1": "a", "2": "a", "3": "b", "4": "b"}
    assert correlate({"1": 1, "2": 1, "3": 0, "4": 0}, repos) == 1
    assert correlate({"1": 1, "2": 0, "3": 1, "4": 0}, repos) == 0
    assert correlate({"1": 1, "2": 1, "3": 1, "4": 1}, repos) == 0
    assert correlate({"1": 1, "2": 0}, {"1": "a", "2": "a"}) == 0
