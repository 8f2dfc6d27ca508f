"""Kappa: the textbook's figure, and its interval against the derivative, taken by numbers."""

from collections.abc import Mapping
from math import sqrt

import pytest

from annotated import grade, judge
from assay.harness.metrics.agreement import compare_people, measure_kappa
from assay.harness.metrics.annotations import Annotation, Difficulty

YES_NO = {("yes", "yes"): 20, ("yes", "no"): 5, ("no", "yes"): 10, ("no", "no"): 15}
"""Two people on 50 proposals; kappa is 0.4 (0.7 seen, 0.5 by chance)."""
THREE = {("a", "a"): 44, ("a", "b"): 5, ("a", "c"): 1, ("b", "a"): 7, ("b", "b"): 20, ("b", "c"): 3} | {
    ("c", "a"): 9,
    ("c", "b"): 5,
    ("c", "c"): 6,
}
Counts = Mapping[tuple[str, str], float]


def kappa(counts: Counts) -> float:
    n = sum(counts.values())
    names = {name for pair in counts for name in pair}
    seen = sum(share for (a, b), share in counts.items() if a == b) / n
    chance = sum(
        sum(share for (a, _), share in counts.items() if a == name)
        * sum(share for (_, b), share in counts.items() if b == name)
        for name in names
    )
    return (seen - chance / n**2) / (1 - chance / n**2)


def error(counts: Counts) -> float:
    """The standard error by the delta method: the spread of what one more of each pair changes."""
    n, step = sum(counts.values()), 1e-6
    slopes = {pair: (kappa({**counts, pair: counts[pair] + step}) - kappa(counts)) / step for pair in counts}
    mean = sum(counts[pair] / n * slope for pair, slope in slopes.items())
    return sqrt(n * sum(counts[pair] / n * (slope - mean) ** 2 for pair, slope in slopes.items()))


@pytest.mark.parametrize("counts", [YES_NO, THREE])
def test_kappa_and_its_interval_are_those_of_the_formulas(counts: dict[tuple[str, str], int]) -> None:
    found = measure_kappa([pair for pair, times in counts.items() for _ in range(times)])
    assert found is not None
    assert found.estimate == pytest.approx(kappa(counts))
    assert (found.high - found.low) / 2 == pytest.approx(1.959964 * error(counts), rel=1e-3)


def test_kappa_of_the_textbook() -> None:
    found = measure_kappa([pair for pair, times in YES_NO.items() for _ in range(times)])
    assert found is not None
    assert found.estimate == pytest.approx(0.4)


@pytest.mark.parametrize(("pairs", "expected"), [([], None), ([("a", "a")] * 5, None), ([("a", "b"), ("b", "a")], -1)])
def test_kappa_at_its_ends(pairs: list[tuple[str, str]], expected: float | None) -> None:
    found = measure_kappa(pairs)
    assert (None if found is None else found.estimate) == expected


def test_each_two_people_are_compared_on_what_both_answered() -> None:
    anna: list[Annotation] = [grade(1), grade(2, clarity=2), grade(3), judge(1, "partial"), judge(2, "undecidable")]
    ben: list[Annotation] = [
        grade(1, "ben"),
        grade(2, "ben", difficulty=Difficulty.HOURS),
        judge(1, "regression", "ben"),
    ]
    found = {(each.scale, *each.people): (each.n, each.agreed) for each in compare_people({"anna": anna, "ben": ben})}
    assert found == {
        ("clarity", "anna", "ben"): (2, 1),
        ("tests", "anna", "ben"): (2, 2),
        ("other", "anna", "ben"): (2, 2),
        ("sound", "anna", "ben"): (2, 1),
        ("difficulty", "anna", "ben"): (2, 1),
        ("level", "anna", "ben"): (2, 1),
        ("verdict", "anna", "ben"): (1, 0),
        ("side", "anna", "ben"): (1, 1),
    }
    assert len({each.people for each in compare_people({"a": anna, "b": ben, "c": anna})}) == 3
