"""Choosing among samples: the filters, the majority and the tie rules of Agentless (Xia et al., 2024)."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ballot:
    """What is known of one sample.

    ``key`` is its normalised form, equal keys are equal votes, and an empty one has none.
    """

    key: str
    regression_failed: int | None = None
    """Tests that passed before it and do not now; None if it was not run."""
    reproduction: bool | None = None
    """Whether the reproduction test says that the issue is resolved; None if it was not run."""


@dataclass(frozen=True, slots=True)
class Vote:
    """What a vote came to: the winner's index (None if there was nothing to vote for) and its votes.

    ``kept`` are the indices that had a vote; ``filters`` names what they were chosen by.
    """

    winner: int | None
    votes: int = 0
    kept: tuple[int, ...] = ()
    filters: tuple[str, ...] = ()


REGRESSION, REPRODUCTION = "regression", "reproduction"


def majority(ballots: Sequence[Ballot]) -> Vote:
    """Choose the sample whose key most of the kept samples have; of equals the one that comes first.

    Kept are samples with a key that fail as few regression tests as any sample does and pass the reproduction test; if
    there is none, the reproduction test is forgotten, and then the regression tests as well.
    """
    fewest = min((each.regression_failed for each in ballots if each.regression_failed is not None), default=None)
    is_reproduced = any(each.reproduction is not None for each in ballots)

    def passes_regression(ballot: Ballot) -> bool:
        return fewest is None or ballot.regression_failed == fewest

    def passes_both(ballot: Ballot) -> bool:
        return passes_regression(ballot) and (not is_reproduced or bool(ballot.reproduction))

    regression = (REGRESSION,) if fewest is not None else ()
    reproduction = (REPRODUCTION,) if is_reproduced else ()
    ladder: tuple[tuple[tuple[str, ...], Callable[[Ballot], bool]], ...] = (
        ((*regression, *reproduction), passes_both),
        (regression, passes_regression),
        ((), lambda _: True),
    )
    for filters, passes in ladder:
        kept = tuple(index for index, each in enumerate(ballots) if each.key and passes(each))
        if kept:
            winner, votes = most_common([ballots[index].key for index in kept])
            return Vote(kept[winner], votes, kept, filters)
    return Vote(None)


def most_common(keys: Sequence[str]) -> tuple[int, int]:
    """Return the index of the first of the most frequent keys, and how often that key occurs.

    Raises:
        ValueError: there is no key.
    """
    counts = Counter(keys)
    winner = max(range(len(keys)), key=lambda index: (counts[keys[index]], -index))
    return winner, counts[keys[winner]]


def interleave(sets: Sequence[Sequence[T]]) -> list[T]:
    """Return the first of every set, then the second of every set, and so on.

    Among samples of several location sets the first ones are greedy: so interleaved, ties fall to those.
    """
    nothing = object()
    return [each for row in zip_longest(*sets, fillvalue=nothing) for each in row if each is not nothing]  # type: ignore[misc]


def combine(rankings: Sequence[Sequence[str]], top: int) -> list[str]:
    """Return the names that most rankings hold, at most ``top``; of equals those that were named first."""
    return [
        name for name, _ in Counter(name for ranking in rankings for name in dict.fromkeys(ranking)).most_common(top)
    ]
