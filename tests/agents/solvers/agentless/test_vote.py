"""Votes small enough to count by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.solvers.agentless.vote import Ballot, combine, interleave, majority

BOTH = ("regression", "reproduction")


@pytest.mark.parametrize(
    ("ballots", "winner", "votes", "filters"),
    [
        ([("a", None, None), ("b", None, None), ("b", None, None)], 1, 2, ()),  # the most votes win
        # a: 0, 3; b: 1, 2: two votes each, and index 0 comes first
        ([("a", 0, True), ("b", 0, True), ("b", 0, True), ("a", 0, True)], 0, 2, BOTH),
        ([("", None, None), ("", None, None), ("a", None, None)], 2, 1, ()),  # empty samples have no vote
        # the fewest failures are 1; of these b has two votes, while a, with three in all, has only one there
        ([("a", 2, True), ("a", 2, True), ("b", 1, True), ("a", 1, True), ("b", 1, True)], 2, 2, BOTH),
        # the only sample with 0 failures does not reproduce: nobody passes both, so the second filter is forgotten
        ([("a", 0, False), ("b", 3, True), ("b", 3, True)], 0, 1, ("regression",)),
        ([("a", 0, False), ("a", 0, False), ("b", 0, True)], 2, 1, BOTH),  # reproduction counts if a sample passes it
        # the fewest failures belong to an empty sample: nobody with a key has as few, so all vote
        ([("", 0, True), ("a", 2, True), ("b", 1, True), ("a", 5, False)], 1, 2, ()),
        ([("a", None, True), ("b", None, False), ("b", None, False)], 0, 1, ("reproduction",)),  # what was not run
        ([("a", 1, None), ("b", 0, None), ("a", 1, None)], 1, 1, ("regression",)),  # filters nothing
        ([], None, 0, ()),
        ([("", 0, True)], None, 0, ()),
    ],
)
def test_majority_of_the_samples_that_pass_most_filters(
    ballots: list[tuple[str, int | None, bool | None]], winner: int | None, votes: int, filters: tuple[str, ...]
) -> None:
    vote = majority([Ballot(*each) for each in ballots])
    assert (vote.winner, vote.votes, vote.filters) == (winner, votes, filters)


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
