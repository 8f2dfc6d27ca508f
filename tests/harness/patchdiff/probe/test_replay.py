"""Recording the calls of functions under scrutiny, and replaying them outside the test runner."""

import ast
import base64
import pickle
from collections.abc import Callable
from typing import Any

import pytest

GOLD = """\
class Basket:
    def __init__(self, items):
        self.items = items

    def total(self, rate=1):
        return rate * _sum(self.items)

    @staticmethod
    def of(text):
        return Basket([int(part) for part in text.split(",")])


def _sum(items):
    total = 0
    for item in items:
        total += item
    return total


def mean(items):
    return _sum(items) / len(items)
"""
TESTS = """\
from shop import Basket, mean


def test_total():
    assert Basket.of("1,2,3").total() == 6
    assert Basket([4]).total(rate=2) == 8


def test_mean():
    assert mean([2, 4]) == 3


def test_else():
    assert Basket([]).items == []
"""
Make = Callable[..., Any]


def recorded(make: Make, target: str = "_sum", **job: Any) -> Any:
    project = make("recorded", GOLD, TESTS)
    return project.run("record", targets=project.targets(target), **job)


def replayed(make: Make, name: str, code: str, calls: Any, target: str = "_sum", **job: Any) -> Any:
    project = make(name, code, TESTS)
    return project.run("replay", calls=calls, targets=project.targets(target), **job)


def different(gold: Any, other: Any) -> list[str]:
    mine, theirs = gold.told(), other.told()
    return [key for key in mine if mine[key] != theirs.get(key)]


def test_calls_of_a_target_and_of_its_nearest_callers_are_recorded(make_project: Make) -> None:
    ran = recorded(make_project)
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
    told = project.run("replay", calls=[call], targets=project.targets("drain"), mutants=0).told()
    assert {key.rpartition("|")[2]: text for key, (_, _, text) in told.items()} == {
        "return": "[2, 1]",
        "arguments": "(([]), {})",
        "stdout": "",
    }


def test_functions_and_calls_are_capped(make_project: Make) -> None:
    assert {row["qualname"] for row in recorded(make_project, functions_cap=1).calls} == {"mean"}
    rows = recorded(make_project, calls_cap=1).calls
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


@pytest.mark.parametrize(
    "code",
    [
        GOLD.replace("total += item", "total += abs(item)"),
        GOLD.replace("    return total\n", "    items.clear()\n    return total\n"),
        GOLD.replace("    return total\n", "    print(total)\n    return total\n"),
        GOLD.replace("    total = 0\n", "    import sys\n    total = 0 if 'pytest' in sys.modules else 1\n"),
    ],
    ids=["value", "argument changed", "output", "well-behaved only under pytest"],
)
def test_wrong_version_differs(make_project: Make, code: str) -> None:
    calls = recorded(make_project).calls
    gold, wrong = (replayed(make_project, name, text, calls) for name, text in [("gold", GOLD), ("wrong", code)])
    assert different(gold, wrong)


def test_the_same_behaviour_written_otherwise_differs_nowhere(make_project: Make) -> None:
    calls = recorded(make_project).calls
    same = GOLD.replace("total += item", "total = total + item")
    gold, other = (replayed(make_project, name, text, calls) for name, text in [("gold", GOLD), ("other", same)])
    assert gold.seen
    assert any(row["mutated"] and row["reached"] for row in gold.seen.values())
    assert not different(gold, other)


def test_the_hash_seed_changes_nothing(make_project: Make) -> None:
    calls = recorded(make_project).calls
    one, two = (replayed(make_project, f"h{seed}", GOLD, calls, hash_seed=seed) for seed in (1, 5))
    assert one.told() == two.told()


def test_function_with_other_parameters_or_missing_is_not_comparable(make_project: Make) -> None:
    calls = [row for row in recorded(make_project).calls if row["qualname"] == "mean"]
    renamed = replayed(
        make_project, "a", GOLD.replace("def mean(items)", "def mean(values, items=())"), calls, mutants=0
    )
    gone = replayed(make_project, "b", GOLD.replace("def mean(", "def average("), calls, mutants=0)
    assert {row["kind"] for row in [*renamed.seen.values(), *gone.seen.values()]} == {"missing"}
    assert not any(row["reached"] for row in renamed.seen.values())


def test_a_call_hangs_dies_or_answers(make_project: Make) -> None:
    code = (
        "import os\n\n\ndef act(what):\n    if what == 'die':\n        os._exit(1)\n"
        "    while what == 'hang':\n        pass\n    return what.upper()\n"
    )
    project = make_project("act", code, TESTS)
    usual = {"module": "shop", "qualname": "act", "parameters": ["what"], "args": "", "leaves": []}
    calls = [{**usual, "literal": f"(({what!r},), {{}})", "digest": str(what)} for what in ("die", "hang", "say", 3)]
    ran = project.run("replay", calls=calls, targets=project.targets("act"), mutants=0, limit=0.5)
    found = {key.split("|")[1]: row["kind"] for key, row in ran.seen.items() if row["literal"]["part"] == "return"}
    assert found == {"die": "died", "hang": "timeout", "say": "value", "3": "error"}


def test_plain_arguments_are_literals_that_do_the_same(make_project: Make) -> None:
    calls = [row for row in recorded(make_project).calls if row["qualname"] == "mean"]
    ran = replayed(make_project, "gold", GOLD, calls)
    space: dict[str, Any] = {}
    exec(GOLD, space)
    values = [row for row in ran.seen.values() if row["literal"]["part"] == "return" and row["kind"] == "value"]
    assert any(row["mutated"] for row in values)
    for row in values:
        positional, named = ast.literal_eval(row["literal"]["arguments"])
        found = space["mean"](*positional, **named)
        assert (format(found, ".12g") if isinstance(found, float) else repr(found)) in (row["text"], row["text"][:-2])


def test_only_selects_probes_and_budget_ends_the_run(make_project: Make) -> None:
    calls = recorded(make_project).calls
    everything = replayed(make_project, "all", GOLD, calls)
    wanted = sorted(everything.seen)[3:5]
    assert sorted(replayed(make_project, "only", GOLD, calls, only=wanted).seen) == wanted
    assert replayed(make_project, "none", GOLD, calls, budget=0).end == "budget"
