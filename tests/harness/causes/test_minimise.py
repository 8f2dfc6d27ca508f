from collections.abc import Callable, Sequence
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from assay.harness.causes.minimise import minimise

NUMBERS = st.integers(1, 40)


class Asked:
    """Counts different questions."""

    def __init__(self, holds: Callable[[frozenset[int]], bool]) -> None:
        self._holds = holds
        self.seen: set[frozenset[int]] = set()

    def __call__(self, units: Sequence[int]) -> bool:
        assert [*units] == sorted(units), "in their order"
        self.seen.add(frozenset(units))
        return self._holds(frozenset(units))


@given(NUMBERS, st.sets(st.integers(0, 39), min_size=1), st.lists(st.sets(st.integers(0, 39))))
def test_what_is_needed_is_found_and_nothing_else(size: int, wanted: set[int], guesses: list[set[int]]) -> None:
    needed = {each % size for each in wanted}
    parts = [sorted({each % size for each in guess}) for guess in guesses]
    asked = Asked(lambda units: needed <= units)
    assert minimise(range(size), asked, parts) == sorted(needed)


@given(NUMBERS, st.randoms(use_true_random=False))
def test_no_unit_can_be_left_out_whatever_holds(size: int, random: Random) -> None:
    known: dict[frozenset[int], bool] = {frozenset(range(size)): True, frozenset(): False}
    asked = Asked(lambda units: known.setdefault(units, random.random() < 0.4))
    found = minimise(range(size), asked)
    assert known[frozenset(found)]
    assert not any(known.get(frozenset(found) - {each}, True) for each in found), "each was asked about, on its own"


def test_few_needed_ones_at_the_beginning_take_few_questions() -> None:
    asked = Asked(lambda units: {0, 1} <= units)
    assert minimise(range(32), asked) == [0, 1]
    assert len(asked.seen) <= 8, "of 32"


def test_a_right_guess_takes_no_more_than_its_own_units() -> None:
    asked = Asked(lambda units: {3, 17, 30} <= units)
    assert minimise(range(32), asked, [[3, 17, 30]]) == [3, 17, 30]
    assert len(asked.seen) == 1 + 3


def test_one_unit_is_not_asked_about() -> None:
    asked = Asked(bool)
    assert minimise([7], asked) == [7]
    assert asked.seen == {frozenset()}
