"""Several people's answers in one: counted by hand."""

import pytest

from annotated import grade, judge
from assay.harness.metrics.annotations import (
    LEVELS,
    Difficulty,
    DivergenceAnnotation,
    InstanceAnnotation,
    identify_patch,
    merge_people,
)


@pytest.mark.parametrize(
    ("clarity", "tests", "other", "is_sound"),
    [(0, 0, False, True), (1, 1, False, True), (2, 0, False, False), (0, 2, False, False), (0, 0, True, False)],
)
def test_an_instance_is_sound_as_swe_bench_verified_says(clarity: int, tests: int, other: bool, is_sound: bool) -> None:
    assert grade(1, clarity=clarity, tests=tests, other=other).is_sound is is_sound


def test_levels_are_those_of_multi_swe_bench() -> None:
    assert [LEVELS[each] for each in Difficulty] == ["easy", "medium", "hard", "hard"]


def test_the_worst_grade_counts_and_of_difficulties_the_majority_or_the_median() -> None:
    one = grade(1, "anna", clarity=0, tests=3, difficulty=Difficulty.MINUTES, note="narrow")
    two = grade(1, "ben", clarity=2, tests=0, difficulty=Difficulty.LONGER, other=True)
    three = grade(1, "eve", difficulty=Difficulty.HOURS)
    (merged,) = merge_people([[one], [two], [three]])
    assert isinstance(merged, InstanceAnnotation)
    assert (merged.clarity, merged.tests, merged.other, merged.by) == (2, 3, True, ("anna", "ben", "eve"))
    assert merged.difficulty is Difficulty.HOURS, "the median"
    assert merged.note == "anna: narrow"
    (merged,) = merge_people([[one], [two], [grade(1, "eve", difficulty=Difficulty.MINUTES)]])
    assert isinstance(merged, InstanceAnnotation)
    assert merged.difficulty is Difficulty.MINUTES, "two of three"


@pytest.mark.parametrize(
    ("given", "merged"),
    [
        (["right", "right"], "right"),
        (["right", "partial"], None),
        (["right", "partial", "partial"], "partial"),
        (["partial", "regression"], "regression"),
        (["unrelated", "partial", "partial"], "partial"),
        (["undecidable", "right", "partial"], None),
        (["undecidable", None], None),
    ],
)
def test_more_than_half_decide_who_is_right(given: list[str | None], merged: str | None) -> None:
    (found,) = merge_people([[judge(1, verdict, by=str(number))] for number, verdict in enumerate(given)])
    assert isinstance(found, DivergenceAnnotation)
    assert found.verdict == merged


def test_answers_about_other_patches_and_probes_stay_apart() -> None:
    found = merge_people([[judge(1, "right"), grade(1)], [judge(1, "partial", "ben", patch="0"), grade(2, "ben")]])
    assert [each.by for each in found] == [("anna",), ("anna",), ("ben",), ("ben",)]


def test_white_space_around_a_patch_makes_no_other_one() -> None:
    assert identify_patch("a\n") == identify_patch("\na") != identify_patch("b")
