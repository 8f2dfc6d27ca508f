"""Calls on which two versions differ inside a test, as files that make the test up to there."""

from collections.abc import Callable
from typing import Any

import pytest

from assay.harness.patchdiff.reproduction.in_place import in_place_draft

GOLD = """\
import functools
import threading


def twice(function):
    @functools.wraps(function)
    def both(*args, **kwargs):
        function(*args, **kwargs)
        return function(*args, **kwargs)

    return both


class Counter:
    def __init__(self):
        self.lock = threading.Lock()
        self.total = 0

    @twice
    def add(self, text, *, times=1):
        for number in numbers(text):
            self.total += number * times
        return self.total


def numbers(text):
    return [int(part) for part in text.split(",") if part]
"""
PLAIN = """\
from shop import Counter

UNUSED = 1


def test_add():
    counter = Counter()
    assert counter.add("1,2") == 6
    assert counter.add("4", times=2) == 22


def test_other():
    assert Counter().total == 0
"""
IN_A_CLASS = """\
import pytest
from shop import Counter


class TestCounter:
    @pytest.fixture
    def counter(self):
        return Counter()

    @pytest.mark.parametrize("text", ["1,2", "3"])
    def test_add(self, counter, text):
        assert counter.add(text) > 0
"""
ZERO = GOLD.replace("if part]", "if part.strip()]")
LOUD = GOLD.replace("    return [int", "    if ',,' in text or not text:\n        print(text)\n    return [int")
Make = Callable[..., Any]


def played(local: Any, *names: str) -> dict[str, Any]:
    """What gold reports of calls in tests on which the two differ."""
    tests = [f"tests/test_shop.py::{name}" for name in names]
    job = {"tests": tests, "functions": [["shop", "Counter.add", False]], "calls_cap": 40, "mutants": 60}
    found: dict[str, Any] = local.differing("inplace", **job)
    return found


@pytest.mark.parametrize(
    ("other", "tests", "names", "part"),
    [
        (ZERO, PLAIN, ["test_add"], "return"),
        (LOUD, PLAIN, ["test_add"], "stdout"),
        (ZERO, IN_A_CLASS, ["TestCounter::test_add[1,2]", "TestCounter::test_add[3]"], "return"),
    ],
    ids=["value", "output", "in a class, with fixtures and rows"],
)
def test_call_in_a_test_passes_with_gold_and_fails_with_the_other(
    make_local: Make, other: str, tests: str, names: list[str], part: str
) -> None:
    local = make_local(GOLD, other, tests)
    found = played(local, *names)
    lines = [row for _, row in sorted(found.items()) if row["literal"]["part"] == part]
    assert lines
    text = local.reproduce(lines[0], in_place_draft)
    assert local.by_hand(text) == [0, 1], text
    assert "test_other" not in text


def test_only_the_changes_that_matter_are_in_the_file(make_local: Make) -> None:
    local = make_local(GOLD, ZERO, PLAIN)
    found = played(local, "test_add")
    both = [row for _, row in sorted(found.items()) if len(row["literal"]["mutations"]) == 2]
    assert both
    said = local.reproduce(both[0], in_place_draft).split('"""')[1]
    assert said.count(" -> ") == 1
    assert "up to call" in said


def test_probe_without_call_or_text_gives_no_draft() -> None:
    assert in_place_draft({}, {}) is None
    assert in_place_draft({"literal": {"test": "a.py::test", "module": "shop"}}, {}) is None
