"""Programs that work inside a test command of the project's own, which sets up what tests and code need."""

import shlex
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tables import read_tables

TEXTS = read_tables(__file__)

pytestmark = pytest.mark.slow

CODE = """\
STATE = {}


def price(count, each):
    return count * each * STATE["rate"]


def label(count):
    return str(price(count, 1))
"""
TESTS = TEXTS["tests"]
AGAIN = "from tests.test_shop import Case\n"
START = """\
import os
import sys
import unittest

os.chdir("tests")
import shop

shop.STATE["rate"] = 2
unittest.main(module=None, argv=["start", *sys.argv[1:]])
"""
COMMAND = f"PYTHONPATH=$PYTHONPATH:. {shlex.quote(sys.executable)} start.py tests.test_more tests.test_shop"
MORE = {"tests/__init__.py": "", "tests/test_more.py": AGAIN, "start.py": START}
Make = Callable[..., Any]


def hosted(make_project: Make, program: str, **job: Any) -> Any:
    project = make_project(program, CODE, TESTS, **MORE)
    return project.run(program, targets=project.targets("price"), command=COMMAND, **job)


def test_amplify_observes_tests_and_changed_copies_where_the_runner_has_set_up(make_project: Make) -> None:
    ran = hosted(make_project, "amplify")
    case = "tests/test_shop.py::Case::"
    shown = ran.observations()
    assert (shown[f"{case}test_price|m0|s0#1"], ran.end) == (("value", "int", "12"), "done")
    assert {row["test"] for row in ran.seen.values() if row["target"] and row["mutated"]} >= {
        f"{case}test_price",
        f"{case}test_label",
    }
    assert not any(row["target"] for row in ran.seen.values() if row["test"] == f"{case}test_else")
    assert shown["tests/test_shop.py::FailsToBegin::test_never|m0|setup#1"] == ("error", "KeyError", "")


def test_probes_asked_for_by_name_show_the_same_again(make_project: Make) -> None:
    shown = hosted(make_project, "amplify").observations()
    only = [key for key in shown if "test_price|m" in key][:4]
    again = hosted(make_project, "amplify", only=only).observations()
    assert again == {key: shown[key] for key in only}


def test_calls_recorded_among_the_tests_are_made_again_among_them(make_project: Make) -> None:
    recorded = hosted(make_project, "record")
    assert {(row["qualname"], row["test"]) for row in recorded.calls} >= {
        ("price", "tests/test_shop.py::Case::test_price"),
        ("label", "tests/test_shop.py::Case::test_label"),
    }
    shown = hosted(make_project, "replay", calls=recorded.calls).observations()
    returned = {row for key, row in shown.items() if key.startswith("shop:price|") and key.endswith("|m0|return")}
    assert ("value", "int", "12") in returned
    assert any(row[0] == "value" for key, row in shown.items() if "|m1|return" in key)


def test_command_that_runs_no_tests_shows_nothing(make_project: Make) -> None:
    project = make_project("idle", CODE, TESTS, **MORE)
    ran = project.run("amplify", targets=project.targets("price"), command="exit 5")
    assert [(row["key"], row["kind"]) for row in ran.seen.values()] == [("program|fatal", "died")]
