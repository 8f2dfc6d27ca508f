"""Votes, finalists and choices, against values counted by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.contract import Candidate
from assay.agents.solvers.best_of.selection import (
    TestMatrix,
    count_majority,
    count_test_votes,
    distinct,
    finalists,
    find_best,
    merge_rankings,
    parse_choice,
    rank_candidates,
    read_choice,
    read_test,
    votes,
)

MATRIX = TestMatrix(
    tests=("one", "two", "three", "four"),
    test_outputs_per_edit=(
        (2, 2, 0, 2),  # a: 1
        (0, 0, 0, 1),  # bb: 3; a status of 1 is no vote
        (0, 0, 2, 0),  # ccc: 3
        (0, 0, 0, None),  # dddd: 3
        (0, 0, 0, 0),  # bb again, when the tests were kinder: 4
        (0, 0, 0, 0),  # nothing: 4, and yet it is no fix
        (124, 137, 2, 0),  # e: 1
    ),
    unedited=(2, 2, 0, 2),
)
PATCHES = ("a", "bb", "ccc", "dddd", "bb", "", "e")


def candidates() -> list[Candidate]:
    plain = [Candidate(patch=patch, source=str(index)) for index, patch in enumerate(PATCHES)]
    return count_test_votes(plain, MATRIX)


def sources(found: list[Candidate]) -> str:
    return "".join(each.source for each in found)


def test_votes_count_exit_code_0() -> None:
    assert [each.votes for each in candidates()] == [1, 3, 3, 3, 4, 4, 1]
    assert votes(()) == 0


def test_ranked_orders_by_votes_then_length() -> None:
    """4: bb (sample 4); 3: bb (2 characters, sample 1), ccc, dddd; 1: a and e, equally long: the earlier first."""
    assert sources(rank_candidates(candidates())) == "412306"


def test_finalists_are_three_distinct_patches() -> None:
    assert sources(finalists(candidates())) == "423"
    assert sources(finalists(candidates(), 10)) == "42306"


def test_identity_is_the_normalised_form() -> None:
    layouts = [
        Candidate(patch="x=1", key="x = 1"),
        Candidate(patch="x = 1", key="x = 1"),
        Candidate(patch="y", key="y"),
    ]
    assert [each.patch for each in distinct(layouts)] == ["x=1", "y"]
    assert [each.votes for each in count_majority([*layouts, Candidate(patch="")])] == [2, 2, 1, 0]


def test_matrix_of_the_wrong_size_is_an_error() -> None:
    with pytest.raises(ValueError, match="zip"):
        count_test_votes([Candidate(patch="a")], MATRIX)


def test_best_score_wins_and_rank_breaks_ties() -> None:
    scored = [
        each.model_copy(update={"scores": {"model": score}})
        for each, score in zip(candidates(), (50, 70, 70, 10, 70, 99, 20), strict=True)
    ]
    assert find_best("model", scored).source == "4"  # 1, 2 and 4 have 70; 4 ranks first; 5 changes nothing


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("Here:\n<test>\nimport sys\nsys.exit(2)\n</test>", "import sys\nsys.exit(2)\n"),
        ("<test>```python\nx = 1\n```</test>", "x = 1\n"),
        ("<test>\n```\nx = 1\n```\n</test>", "x = 1\n"),
        ("<test>old</test> no, rather <test>new</test>", "new\n"),
        ("<test>\n    indented\n</test>", "    indented\n"),
        ("no test", None),
        ("<test>not closed", None),
    ],
)
def test_read_test_returns_the_last_script(text: str, script: str | None) -> None:
    assert read_test(text) == script


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<chosen_candidate_fix_id>2</chosen_candidate_fix_id>", 2),
        ("<chosen_candidate_fix_id> 1\n</chosen_candidate_fix_id>", 1),
        ("<chosen_candidate_fix_id>3</chosen_candidate_fix_id>", 0),  # there are three: 0, 1, 2
        ("<chosen_candidate_fix_id>-1</chosen_candidate_fix_id>", 0),
        ("<chosen_candidate_fix_id>the second</chosen_candidate_fix_id>", 0),
        ("<chosen_candidate_fix_id>\u00b2</chosen_candidate_fix_id>", 0),  # a digit that is no number
        ("<chosen_candidate_fix_id></chosen_candidate_fix_id>", 0),
        ("I like number 2", 0),
    ],
)
def test_invalid_choice_is_the_first_candidate(text: str, expected: int) -> None:
    assert parse_choice(read_choice(text), 3) == expected


def test_read_choice_distinguishes_none_from_empty() -> None:
    assert read_choice("let me test first") is None
    assert read_choice("<chosen_candidate_fix_id></chosen_candidate_fix_id>") == ""


def test_merged_orders_by_mean_position() -> None:
    """Places of a: 0, 1, 0; b: 1, 0, 4 (missing, of four names); c: 2, 4, 1; d: 4, 2, 4. Sums 1, 5, 7, 10."""
    assert merge_rankings([["a", "b", "c"], ["b", "a", "d"], ["a", "c"]]) == ["a", "b", "c", "d"]
    assert merge_rankings([["x", "y"], ["y", "x"]]) == ["x", "y"]
    assert merge_rankings([["x", "x", "y"]]) == ["x", "y"]
    assert merge_rankings([]) == []


CANDIDATES = st.lists(
    st.builds(Candidate, patch=st.text("ab", max_size=4), votes=st.integers(0, 3), key=st.sampled_from(["", "k"])),
    max_size=8,
)


@given(CANDIDATES, st.integers(1, 4))
def test_finalists_are_the_best_that_differ(found: list[Candidate], most: int) -> None:
    final = finalists(found, most)
    assert len(final) <= most
    assert all(each.patch for each in final)
    assert len({each.key or each.patch for each in final}) == len(final)
    best = max((each.votes for each in found if each.patch), default=None)
    assert (final[0].votes if final else None) == best
    assert [each.votes for each in final] == sorted((each.votes for each in final), reverse=True)


@given(st.lists(st.lists(st.sampled_from("abcde"), unique=True)))
def test_merged_keeps_every_name_and_a_common_order(rankings: list[list[str]]) -> None:
    together = merge_rankings(rankings)
    assert sorted(together) == sorted({name for ranking in rankings for name in ranking})
    if rankings and all(ranking == rankings[0] for ranking in rankings):
        assert together == rankings[0]
