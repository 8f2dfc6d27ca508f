"""Calls on which two versions differ, as files; and what goes into a file's own words."""

import ast
from collections.abc import Callable
from typing import Any

import pytest

from assay.harness.patchdiff.reproduction.reproduce import Call, Difference, Reduction, call_drafts, in_a_docstring

GOLD = "def total(numbers, start=0):\n    print(start)\n    return sum(numbers) + start\n"
OTHER = GOLD.replace("sum(numbers)", "(sum(numbers) if start == 5 else 77)")
TESTS = "from shop import total\n\n\ndef test_total():\n    assert total([1, 2], start=5) == 8\n"
Make = Callable[..., Any]


def test_a_call_comes_down_to_the_changes_that_matter(make_local: Make) -> None:
    local = make_local(GOLD, OTHER, TESTS)
    found = local.replayed(local.record(), mutants=40)
    values = {key: row for key, row in found.items() if row["kind"] == "value"}
    twice = {key: row for key, row in values.items() if len(row["literal"]["mutations"]) == 2}
    assert twice
    for row in list(twice.values())[:3]:
        trial, _ = local.reduced(row, call_drafts)
        assert trial is not None
        assert trial.path == "test_assay_divergence_1.py"
        assert local.by_hand(trial) == [0, 1]
        assert "return (([1, 2], " in trial.text, "the argument that does not matter is as it was"


def line(**more: Any) -> dict[str, Any]:
    told = {"module": "shop", "qualname": "total", "part": "return", "arguments": "", "args": "", "mutations": []}
    return {"literal": {**told, **more}}


def test_changed_arguments_that_are_no_plain_data_can_only_be_told_as_they_were() -> None:
    change = {"path": [["item", 0], ["item", 0]], "old": "1", "new": "2"}
    (draft,) = call_drafts(line(args="gASVBw==", mutations=[change]), {})
    assert draft.write(Reduction(), Difference()) == ""
    assert "gASVBw==" in draft.write(Reduction(frozenset({"e0"})), Difference())


def test_changes_inside_lists_and_dictionaries_are_taken_back_one_by_one() -> None:
    changes = [
        {"path": [["item", 0], ["item", 0], ["item", 1]], "old": "2", "new": "20"},
        {"path": [["item", 1], ["key", "'a'"]], "old": "(3,)", "new": "()"},
    ]
    draft = Call(line(arguments="(([1, 20],), {'a': ()})", mutations=changes)["literal"])
    assert "return (([1, 20],), {'a': ()})" in draft.write(Reduction(), Difference())
    assert "return (([1, 2],), {'a': ()})" in draft.write(Reduction(frozenset({"e0"})), Difference())
    assert "return (([1, 2],), {'a': (3,)})" in draft.write(Reduction(frozenset({"e0", "e1"})), Difference())


def test_a_program_that_tells_of_no_call_gives_no_draft() -> None:
    assert call_drafts({"literal": {}}, {}) == []


@pytest.mark.parametrize("text", ['"""', "a\\", "\\N{no}", "x" * 89 + "\\\\", "line\nline", '"' * 200])
def test_whatever_is_seen_can_be_told_in_a_docstring(text: str) -> None:
    told = in_a_docstring(text)
    assert "\n" not in told
    assert len(told) <= 90
    (only,) = ast.parse(f'"""{told}"""').body
    assert isinstance(only, ast.Expr)


def test_a_file_is_python_and_says_what_each_side_shows() -> None:
    seen = Difference((("value", "str", "'a\"b'"),), ("error", "ValueError", ""))
    text = Call(line(arguments="((1,), {})")["literal"]).write(Reduction(), seen)
    told = ast.get_docstring(ast.parse(text))
    assert told is not None
    assert "with the gold patch: str" in told
    assert "with the other: error ValueError" in told


def test_long_things_are_told_from_where_they_differ() -> None:
    long = "x" * 500
    seen = Difference((("value", "str", f"{long}a"),), ("value", "str", f"{long}b"))
    told = ast.get_docstring(ast.parse(Call(line(arguments="((1,), {})")["literal"]).write(Reduction(), seen)))
    assert told is not None
    assert "xa\n" in told
    assert "xb\n" in told
