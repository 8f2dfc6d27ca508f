"""Divergences of ``amplify`` as files that pass with the one version and fail with the other."""

from collections.abc import Callable
from typing import Any

import pytest

from assay.harness.patchdiff.reproduction.amplified import make_amplified_draft
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
def test_each_kind_of_place_passes_with_gold_and_fails_with_the_other(
    make_local: Make, other: str, tests: str, mode: str
) -> None:
    local = make_local(GOLD, other, tests)
    differing = local.differing("amplify", mutants=40)
    line = next(row for _, row in sorted(differing.items()) if row["literal"]["mode"] == mode)
    text = local.reproduce(line, make_amplified_draft)
    assert local.by_hand(text) == [0, 1], text


def test_file_holds_one_test_and_the_changes_that_its_place_depends_on(make_local: Make) -> None:
    local = make_local(GOLD, HARD_CODED, PLAIN)
    differing = local.differing("amplify", mutants=60)
    line = next(row for key, row in sorted(differing.items()) if "test_price|" in key and "|s0#" in key)
    text = local.reproduce(line, make_amplified_draft)
    assert text.split('"""')[1].count(" -> ") == len(line["literal"]["mutations"])
    assert "test_other" not in text
    assert "look.value = first" in text


def test_probe_without_its_test_file_gives_no_draft() -> None:
    probe = {"literal": {"test": "a.py::test", "line": 1, "expression": "x", "mode": "operand", "mutations": []}}
    assert make_amplified_draft(probe, {}) is None
    assert make_amplified_draft({"literal": {}}, {"a.py": ""}) is None
