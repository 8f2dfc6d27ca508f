"""Recording the calls of functions under scrutiny, and of their callers."""

import base64
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from probed import record_basket

pytestmark = pytest.mark.slow

Make = Callable[..., Any]


def test_calls_of_a_target_and_of_its_nearest_callers_are_recorded(make_project: Make) -> None:
    ran = record_basket(make_project)
    assert ran.end == "done"
    called = {(row["qualname"], row["private"]) for row in ran.calls}
    assert called == {("_sum", True), ("Basket.total", False), ("mean", False)}
    mean = next(row for row in ran.calls if row["qualname"] == "mean")
    assert pickle.loads(base64.b64decode(mean["args"])) == (([2, 4],), {})
    assert mean["parameters"] == ["items"]
    assert mean["test"].endswith("::test_mean")


def test_argument_is_recorded_before_the_body_changes_it(make_project: Make) -> None:
    code = "def drain(items):\n    taken = []\n    while items:\n        taken.append(items.pop())\n    return taken\n"
    tests = "from shop import drain\n\n\ndef test_drain():\n    assert drain([1, 2]) == [2, 1]\n"
    project = make_project("drain", code, tests)
    (call,) = project.run("record", targets=project.targets("drain")).calls
    assert call["literal"] == "(([1, 2],), {},)"
    shown = project.run("replay", calls=[call], targets=project.targets("drain"), mutants=0).observations()
    assert {key.rpartition("|")[2]: text for key, (_, _, text) in shown.items()} == {
        "return": "[2, 1]",
        "arguments": "(([]), {})",
        "stdout": "",
    }


def test_functions_and_calls_are_capped(make_project: Make) -> None:
    assert {row["qualname"] for row in record_basket(make_project, functions_cap=1).calls} == {"mean"}
    rows = record_basket(make_project, calls_cap=1).calls
    assert len(rows) == len({row["qualname"] for row in rows})


def test_unpicklable_call_is_left_out(make_project: Make) -> None:
    code = "def call(function, n):\n    return function(n)\n"
    tests = (
        "from shop import call\n\n\ndef test_call():\n    assert call(lambda n: n, 1) == 1\n"
        "    assert call(abs, -1) == 1\n"
        "    assert call(str, 'x' * 200000)\n"
    )
    project = make_project("lambda", code, tests)
    (call,) = project.run("record", targets=project.targets("call")).calls
    assert pickle.loads(base64.b64decode(call["args"])) == ((abs, -1), {})


def test_calls_are_recorded_while_a_test_sets_the_name_of_the_system(make_project: Make) -> None:
    code = "def half(number):\n    return number / 2\n"
    tests = (
        "import os\n\nfrom shop import half\n\n\ndef test_half(monkeypatch):\n"
        '    monkeypatch.setattr(os, "name", "nt")\n    assert half(4) == 2\n'
    )
    project = make_project("windows", code, tests)
    (call,) = project.run("record", targets=project.targets("half")).calls
    assert (call["qualname"], call["literal"]) == ("half", "((4,), {},)")
