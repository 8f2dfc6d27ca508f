"""Votes small enough to count by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.solvers.agentless.vote import Ballot, combine, interleave, majority


def elect(*ballots: tuple[str, int | None, bool | None]) -> tuple[int | None, int, tuple[str, ...]]:
    vote = majority([Ballot(*each) for each in ballots])
    return vote.winner, vote.votes, vote.filters


def test_most_votes_win() -> None:
    assert elect(("a", None, None), ("b", None, None), ("b", None, None)) == (1, 2, ())


def test_tie_goes_to_the_first() -> None:
    """a: 0, 3; b: 1, 2. Two votes each; index 0 comes first."""
    assert elect(("a", 0, True), ("b", 0, True), ("b", 0, True), ("a", 0, True))[:2] == (0, 2)


def test_empty_samples_have_no_vote() -> None:
    assert elect(("", None, None), ("", None, None), ("a", None, None)) == (2, 1, ())


def test_only_samples_that_fail_the_fewest_tests_vote() -> None:
    """The fewest failures are 1; of these b has two votes, while a, with three votes in all, has only one there."""
    ballots = (("a", 2, True), ("a", 2, True), ("b", 1, True), ("a", 1, True), ("b", 1, True))
    assert elect(*ballots) == (2, 2, ("regression", "reproduction"))


def test_fewest_failures_are_taken_over_all_samples() -> None:
    """The only sample with 0 failures does not reproduce: nobody passes both, so the second filter is forgotten."""
    assert elect(("a", 0, False), ("b", 3, True), ("b", 3, True)) == (0, 1, ("regression",))


def test_reproduction_filter_applies_if_a_sample_passes_it() -> None:
    assert elect(("a", 0, False), ("a", 0, False), ("b", 0, True)) == (2, 1, ("regression", "reproduction"))


def test_all_samples_vote_if_no_filter_leaves_one() -> None:
    """The fewest failures belong to an empty sample: nobody with a key has as few."""
    assert elect(("", 0, True), ("a", 2, True), ("b", 1, True), ("a", 5, False)) == (1, 2, ())


def test_test_that_was_not_run_filters_nothing() -> None:
    assert elect(("a", None, True), ("b", None, False), ("b", None, False)) == (0, 1, ("reproduction",))
    assert elect(("a", 1, None), ("b", 0, None), ("a", 1, None)) == (1, 1, ("regression",))


def test_vote_without_samples_has_no_winner() -> None:
    assert elect() == (None, 0, ())
    assert elect(("", 0, True)) == (None, 0, ())


def test_interleave_puts_the_greedy_samples_first() -> None:
    assert interleave([["a0", "a1", "a2"], ["b0"], ["c0", "c1"]]) == ["a0", "b0", "c0", "a1", "c1", "a2"]


@pytest.mark.parametrize(
    ("rankings", "top", "combined"),
    [
        ([["a", "b", "c"], ["d", "b", "e"]], 3, ["b", "a", "c"]),  # b twice; then in the order of naming
        ([["a"], ["b", "c", "d"]], 3, ["a", "b", "c"]),
        ([["a", "b", "c"], ["c", "b", "a"]], 2, ["a", "b"]),
        ([[], []], 3, []),
    ],
)
def test_combine_orders_files_by_number_of_rankings(rankings: list[list[str]], top: int, combined: list[str]) -> None:
    assert combine(rankings, top) == combined


BALLOTS = st.lists(
    st.builds(Ballot, st.sampled_from(["", "a", "b", "c"]), st.none() | st.integers(0, 2), st.none() | st.booleans())
)


@given(BALLOTS)
def test_winner_has_a_key_and_the_most_votes(ballots: list[Ballot]) -> None:
    vote = majority(ballots)
    assert (vote.winner is None) is all(not each.key for each in ballots)
    if vote.winner is not None:
        keys = [ballots[index].key for index in vote.kept]
        assert vote.votes == keys.count(ballots[vote.winner].key) == max(map(keys.count, keys))
        assert ballots[vote.winner].key not in [ballots[index].key for index in vote.kept if index < vote.winner]
