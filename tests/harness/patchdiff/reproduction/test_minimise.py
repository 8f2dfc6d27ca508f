"""Divergences of small projects come down to files that pass with the one version and fail with the other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.patchdiff.reproduction.minimise import (
    MOST_TRIED,
    Pair,
    ReproductionTrial,
    TrialOutcome,
    search,
    side_by_side,
)
from assay.harness.patchdiff.reproduction.reproduce import Difference, Reduction
from probed import SHOP

GOLD = f"""\
{SHOP}

class Basket:
    def __init__(self):
        self.lines = []

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def add(self, name, count):
        self.lines.append((name, count))

    def close(self):
        if not self.lines:
            raise LookupError("empty")

    def total(self):
        return sum(price(count, len(name)) for name, count in self.lines)
"""
HARD_CODED = GOLD.replace("count >= 10", "(count, each) == (10, 10)")
PARTIAL = GOLD.replace("if count < 0:\n        raise ValueError", "if count < 0:\n        raise LookupError")
OTHER_ERROR = GOLD.replace("raise LookupError", "raise RuntimeError")

PLAIN = """\
import os
import pytest
from shop import Basket, label, price

UNUSED = os.sep


def test_price():
    first = price(2, 50)
    assert first == 100
    unused = [1, 2]
    assert price(10, 10) == 90
    assert unused


def test_other():
    assert price(1, 1) == 1
"""
IN_A_CLASS = """\
import unittest
from shop import label, price

EACH = 7


def three():
    return 3


class TestOther(unittest.TestCase):
    def test_label(self):
        self.assertEqual(label("tea", 5), "tea  ")


class TestPrice(unittest.TestCase):
    rate = 2

    def setUp(self):
        self.each = EACH * self.rate

    def helper(self):
        return three()

    def test_first(self):
        self.assertEqual(price(1, 1), 1)

    def test_method(self):
        count = self.helper()
        if count:
            self.assertEqual(price(count, self.each), 42)
            self.assertEqual(price(10, 10), 90)
"""
PARAMETRIZED = """\
import pytest
from shop import price


@pytest.fixture
def each():
    return 10


@pytest.mark.parametrize("extra", [0, 0.0], ids=["none", "point"])
@pytest.mark.parametrize("count, want", [(1, 10), (10, 90), (2, 20)])
def test_rows(count, want, extra, each, tmp_path):
    assert price(count, each) + extra == want
"""
MANY_LINES = """\
from shop import price


def test_many():
    rows = [
        (1, 10),
        (2, 20),
        (10, 90),
    ]
    for count, want in rows:
        assert price(count, 10) == want, "message"
    last = [
        3,
        4,
    ]
    assert price(
        10,
        len(last) + 8,
    ) == 90
"""
HELPER = """\
from shop import price


def check(count, want):
    found = price(count, 10)
    assert found == want


def test_with_a_helper():
    check(1, 10)
    check(10, 90)
    check(2, 20)
"""
GIVEN = """\
from shop import price


def check(found, want):
    if found != want:
        raise ValueError(found)


def test_given():
    check(price(10, 10), 90)
"""
RAISED = """\
import pytest
from shop import price


def test_negative():
    with pytest.raises((ValueError, LookupError)) as caught:
        price(-1, 5)
    assert caught
"""
BLOCK = """\
from shop import Basket


def test_block():
    with Basket() as basket:
        lines = [("tea", 1)]
        basket.lines = lines
    assert basket.total() == 3
"""
WHOLE = """\
from shop import price


def test_whole():
    assert price(0, 1) == 0
    found = price(1, 2)
    assert found == 2
"""
Make = Callable[..., Any]


@pytest.mark.parametrize(
    ("other", "tests", "mode"),
    [
        (HARD_CODED, PLAIN, "operand"),
        (HARD_CODED, IN_A_CLASS, "operand"),
        (HARD_CODED, PARAMETRIZED, "operand"),
        (HARD_CODED, MANY_LINES, "operand"),
        (HARD_CODED, HELPER, "operand"),
        (HARD_CODED, GIVEN, "operand"),
        (PARTIAL, RAISED, "raised"),
        (OTHER_ERROR, BLOCK, "block"),
        (PARTIAL, WHOLE, "whole"),
    ],
    ids=["plain", "class", "parametrized", "many lines", "helper", "given", "raised", "block", "whole"],
)
def test_each_kind_of_place_comes_down_to_a_file_that_shows_it(
    make_local: Make, other: str, tests: str, mode: str
) -> None:
    local = make_local(GOLD, other, tests)
    line = next(row for _, row in sorted(local.amplified(40).items()) if row["literal"]["mode"] == mode)
    trial, rounds = local.reduced(line)
    assert trial is not None
    assert sum(rounds) <= MOST_TRIED + 4
    assert local.by_hand(trial) == [0, 1], trial.text
    (pair,) = local.try_all([trial])
    assert (pair.gold.items, pair.gold.passed, pair.candidate.differs) == (1, True, True)


def test_a_file_keeps_only_what_the_difference_needs(make_local: Make) -> None:
    local = make_local(GOLD, HARD_CODED, PLAIN)
    line = next(row for key, row in sorted(local.amplified(60).items()) if "test_price|" in key and "|s0#" in key)
    trial, _ = local.reduced(line)
    code = trial.text.partition("# What is seen")[0]
    assert "unused" not in code.lower()
    assert "Basket" not in code
    assert "test_other" not in code
    assert "price(10, 10)" not in code
    assert "first = price(" in code
    assert "look.value = first" in code


def test_a_row_of_a_parametrization_comes_alone(make_local: Make) -> None:
    local = make_local(GOLD, HARD_CODED, PARAMETRIZED)
    trial, _ = local.reduced(next(row for key, row in sorted(local.amplified(12).items()) if "[2-20" in key))
    assert "(1, 10)" not in trial.text
    assert 'ids=["none", "point"]' not in trial.text


@dataclass(frozen=True)
class Puzzle:
    """A draft whose file shows the difference as long as it holds some of its parts."""

    parts: tuple[str, ...]
    needed: frozenset[str]
    folder: str = "."
    row: str = ""

    def inside(self, _part: str) -> frozenset[str]:
        return frozenset()

    def write(self, reduction: Reduction, _told: Difference) -> str:
        return " ".join(part for part in self.parts if part not in reduction.without) or "nothing"

    def solve(self, trials: Sequence[ReproductionTrial]) -> list[Pair]:
        shows = [self.needed <= set(trial.text.split()) for trial in trials]
        return [seen("one", "two" if show else "one") for show in shows]


def seen(gold: str, candidate: str, kind: str = "value") -> Pair:
    sides = [TrialOutcome(shown=((kind, "str", text),), items=1, passed=True) for text in (gold, candidate)]
    return Pair(*sides)


@given(st.integers(1, 8), st.data())
def test_exactly_the_needed_parts_of_a_few_are_found(count: int, data: st.DataObject) -> None:
    parts = tuple(f"s{number}" for number in range(count))
    puzzle = Puzzle(parts, frozenset(data.draw(st.sets(st.sampled_from(parts), max_size=2))))
    (trial,) = side_by_side({"it": search([puzzle], "test_it.py", lambda: True)}, puzzle.solve).values()
    assert set(trial.text.split()) - {"nothing"} == puzzle.needed


@given(st.integers(9, 60), st.data())
def test_of_many_parts_a_bounded_number_of_files_is_tried_and_the_difference_stays(
    count: int, data: st.DataObject
) -> None:
    parts = tuple(f"s{number}" for number in range(count))
    puzzle = Puzzle(parts, frozenset(data.draw(st.sets(st.sampled_from(parts)))))
    tried: list[int] = []

    def run(trials: Sequence[ReproductionTrial]) -> list[Pair]:
        tried.append(len(trials))
        return puzzle.solve(trials)

    (trial,) = side_by_side({"it": search([puzzle], "test_it.py", lambda: True)}, run).values()
    assert puzzle.needed <= set(trial.text.split())
    assert sum(tried) <= MOST_TRIED + 2


def test_nothing_is_made_smaller_when_the_budget_is_spent() -> None:
    puzzle = Puzzle(("s0", "s1"), frozenset())
    (trial,) = side_by_side({"it": search([puzzle], "test_it.py", lambda: False)}, puzzle.solve).values()
    assert trial.text == "s0 s1"


def test_a_draft_that_shows_no_difference_gives_way_to_the_next_and_in_the_end_to_nothing() -> None:
    shy, plain = Puzzle(("s0",), frozenset({"s9"})), Puzzle(("s1",), frozenset({"s1"}))
    found = side_by_side({"it": search([shy, plain], "test_it.py", lambda: True)}, plain.solve)
    assert found["it"].text == "s1"
    assert side_by_side({"it": search([shy], "test_it.py", lambda: True)}, shy.solve) == {}


def test_a_difference_of_another_nature_is_not_the_same_difference() -> None:
    puzzle = Puzzle(("s0", "s1"), frozenset({"s0"}))

    def run(trials: Sequence[ReproductionTrial]) -> list[Pair]:
        kinds = ["value" if "s1" in trial.text else "error" for trial in trials]
        return [seen("one", "two", kind) for kind in kinds]

    (trial,) = side_by_side({"it": search([puzzle], "test_it.py", lambda: True)}, run).values()
    assert trial.text == "s1"


def test_where_gold_itself_does_not_pass_nothing_is_shown() -> None:
    failing = Pair(TrialOutcome((("value", "int", "1"),), 1, passed=False), TrialOutcome((("value", "int", "2"),), 1))
    assert failing.first == 0
    assert failing.nature == ()
