"""Calls made again where tests make them, with objects that no other process can be told of."""

from collections.abc import Callable
from typing import Any

import pytest

GOLD = """\
import threading


class Counter:
    def __init__(self, step):
        self.lock = threading.Lock()
        self.step = step
        self.total = 0

    def add(self, text, *, times=1):
        for number in numbers(text):
            self.total += number * self.step * times
        return self.total


def numbers(text):
    return [int(part) for part in text.split(",") if part]


def sums(counters, text):
    for counter in counters:
        yield counter.add(text)
"""
TESTS = """\
from shop import Counter, sums


def test_add():
    counter = Counter(2)
    assert counter.add("1,2,3") == 12
    assert counter.add("4", times=2) == 28


def test_sums():
    assert list(sums([Counter(1), Counter(2)], "1,1")) == [2, 4]


def test_else():
    assert Counter(1).total == 0
"""
ADD, SUMS = ["shop", "Counter.add", False], ["shop", "sums", True]
Make = Callable[..., Any]


def played(make: Make, name: str, code: str = GOLD, text: str = TESTS, **job: Any) -> Any:
    project = make(name, code, text)
    usual = {
        "tests": [f"tests/test_shop.py::test_{each}" for each in ("add", "sums")],
        "functions": [ADD, SUMS],
        "targets": project.targets("numbers"),
        "calls_cap": 10,
        "mutants": 20,
    }
    return project.run("inplace", **{**usual, **job})


def different(one: Any, other: Any) -> list[str]:
    mine, theirs = one.told(), other.told()
    return [key for key in mine if key in theirs and mine[key] != theirs[key]]


def test_calls_with_unpicklable_objects_are_made_in_place(make_project: Make) -> None:
    ran = played(make_project, "gold")
    assert ran.end == "done"
    plain = {row["literal"]["qualname"]: row["text"] for row in ran.seen.values() if row["key"].endswith("|m0|return")}
    assert set(plain) == {"Counter.add", "sums"}
    assert all(row["reached"] for row in ran.seen.values() if not row["mutated"])
    assert any(row["mutated"] and row["kind"] == "value" for row in ran.seen.values())
    assert any(row["kind"] == "error" and row["type"] == "ValueError" for row in ran.seen.values())


def test_test_continues_unchanged_after_probing(make_project: Make) -> None:
    ran = played(make_project, "gold", mutants=0)
    texts = [row["text"] for row in ran.seen.values() if row["literal"]["part"] == "return"]
    assert "28" in texts  # the second call of a counter sees what the first did to it, and nothing else
    assert ran.end == "done"


@pytest.mark.parametrize(
    "code",
    [
        GOLD.replace("if part]", "]"),
        GOLD.replace("    return [int", "    print(text)\n    return [int"),
        GOLD.replace("int(part)", "int(part) if part != '0' else 1"),
    ],
    ids=["an empty part", "output", "one value"],
)
def test_wrong_version_differs(make_project: Make, code: str) -> None:
    gold, wrong = (played(make_project, name, text) for name, text in [("gold", GOLD), ("wrong", code)])
    assert different(gold, wrong)


def test_the_same_behaviour_written_otherwise_differs_nowhere(make_project: Make) -> None:
    same = GOLD.replace('in text.split(",") if part]', 'in filter(None, text.split(","))]')
    gold, other = (played(make_project, name, text) for name, text in [("gold", GOLD), ("same", same)])
    assert gold.seen
    assert gold.seen.keys() == other.seen.keys()
    assert not different(gold, other)


def test_runs_and_hash_seeds_agree(make_project: Make) -> None:
    one, two = (played(make_project, f"h{seed}", hash_seed=seed) for seed in (1, 5))
    assert one.told() == two.told()


def test_arguments_are_changed_and_objects_are_not(make_project: Make) -> None:
    ran = played(make_project, "gold")
    paths = [change["path"] for row in ran.seen.values() for change in row["literal"]["mutations"]]
    assert paths
    assert not any(step[0] == "attribute" for path in paths for step in path)


def test_function_with_closure_keeps_its_code(make_project: Make) -> None:
    code = GOLD.replace("        for number in numbers", "        super().__init__()\n        for number in numbers")
    ran = played(make_project, "cells", code)
    assert {row["literal"]["qualname"] for row in ran.seen.values()} == {"sums"}


def test_call_that_hangs_or_dies_loses_only_itself(make_project: Make) -> None:
    code = GOLD.replace("    return [int", "    while text == '':\n        pass\n    return [int")
    ran = played(make_project, "hang", code, limit=0.3)
    kinds = {row["kind"] for row in ran.seen.values()}
    assert {"timeout", "value"} <= kinds
    assert ran.end == "done"


def test_only_the_probes_asked_for_and_only_within_the_budget(make_project: Make) -> None:
    everything = played(make_project, "all")
    wanted = sorted(key for key in everything.seen if "|m0|" not in key)[5:8]
    assert sorted(played(make_project, "only", only=wanted).seen) == wanted
    none = played(make_project, "none", budget=0)
    assert none.end == "budget"
    assert not none.seen


def test_function_of_another_side_only_is_left_out(make_project: Make) -> None:
    ran = played(make_project, "gone", functions=[ADD, ["shop", "gone", False]])
    assert {row["literal"]["qualname"] for row in ran.seen.values()} == {"Counter.add"}


def test_probe_name_does_not_depend_on_earlier_tests(make_project: Make) -> None:
    text = TESTS + "\n\ndef test_twice():\n    assert Counter(2).add('1,2,3') == 12\n"
    names = [f"tests/test_shop.py::test_{each}" for each in ("add", "twice")]
    everything = played(make_project, "all", text=text, tests=names)
    wanted = sorted(key for key in everything.seen if "test_twice" in key)[:4]
    assert wanted
    assert sorted(played(make_project, "only", text=text, tests=names, only=wanted).seen) == wanted
