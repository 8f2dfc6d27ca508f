"""Recorded calls, made again outside the test runner."""

import ast
from collections.abc import Callable
from typing import Any

import pytest

from probed import BASKET, BASKET_TESTS, record_basket

pytestmark = pytest.mark.slow

Make = Callable[..., Any]


def replayed(make: Make, name: str, code: str, calls: Any, target: str = "_sum", **job: Any) -> Any:
    project = make(name, code, BASKET_TESTS)
    return project.run("replay", calls=calls, targets=project.targets(target), **job)


def different(gold: Any, other: Any) -> list[str]:
    mine, theirs = gold.observations(), other.observations()
    return [key for key in mine if mine[key] != theirs.get(key)]


@pytest.mark.parametrize(
    "code",
    [
        BASKET.replace("total += item", "total += abs(item)"),
        BASKET.replace("    return total\n", "    items.clear()\n    return total\n"),
        BASKET.replace("    return total\n", "    print(total)\n    return total\n"),
        BASKET.replace("    total = 0\n", "    import sys\n    total = 0 if 'pytest' in sys.modules else 1\n"),
    ],
    ids=["value", "argument changed", "output", "well-behaved only under pytest"],
)
def test_wrong_version_differs(make_project: Make, code: str) -> None:
    calls = record_basket(make_project).calls
    gold, wrong = (replayed(make_project, name, text, calls) for name, text in [("gold", BASKET), ("wrong", code)])
    assert different(gold, wrong)


def test_the_same_behaviour_written_otherwise_differs_nowhere(make_project: Make) -> None:
    calls = record_basket(make_project).calls
    same = BASKET.replace("total += item", "total = total + item")
    gold, other = (replayed(make_project, name, text, calls) for name, text in [("gold", BASKET), ("other", same)])
    assert gold.seen
    assert any(row["mutated"] and row["target"] for row in gold.seen.values())
    assert not different(gold, other)


def test_the_hash_seed_changes_nothing(make_project: Make) -> None:
    calls = record_basket(make_project).calls
    one, two = (replayed(make_project, f"h{seed}", BASKET, calls, hash_seed=seed) for seed in (1, 5))
    assert one.observations() == two.observations()


def test_function_with_other_parameters_or_missing_is_not_comparable(make_project: Make) -> None:
    calls = [row for row in record_basket(make_project).calls if row["qualname"] == "mean"]
    renamed = replayed(
        make_project, "a", BASKET.replace("def mean(items)", "def mean(values, items=())"), calls, mutants=0
    )
    gone = replayed(make_project, "b", BASKET.replace("def mean(", "def average("), calls, mutants=0)
    assert {row["kind"] for row in [*renamed.seen.values(), *gone.seen.values()]} == {"missing"}
    assert not any(row["target"] for row in renamed.seen.values())


def test_a_call_hangs_dies_or_answers(make_project: Make) -> None:
    code = (
        "import os\n\n\ndef act(what):\n    if what == 'die':\n        os._exit(1)\n"
        "    while what == 'hang':\n        pass\n    return what.upper()\n"
    )
    project = make_project("act", code, BASKET_TESTS)
    usual = {"module": "shop", "qualname": "act", "parameters": ["what"], "args": "", "leaves": []}
    calls = [{**usual, "literal": f"(({what!r},), {{}})", "digest": str(what)} for what in ("die", "hang", "say", 3)]
    ran = project.run("replay", calls=calls, targets=project.targets("act"), mutants=0, limit=0.5)
    found = {key.split("|")[1]: row["kind"] for key, row in ran.seen.items() if row["literal"]["part"] == "return"}
    assert found == {"die": "died", "hang": "timeout", "say": "value", "3": "error"}


def test_plain_arguments_are_literals_that_do_the_same(make_project: Make) -> None:
    calls = [row for row in record_basket(make_project).calls if row["qualname"] == "mean"]
    ran = replayed(make_project, "gold", BASKET, calls)
    space: dict[str, Any] = {}
    exec(BASKET, space)
    values = [row for row in ran.seen.values() if row["literal"]["part"] == "return" and row["kind"] == "value"]
    assert any(row["mutated"] for row in values)
    for row in values:
        positional, named = ast.literal_eval(row["literal"]["arguments"])
        found = space["mean"](*positional, **named)
        assert (format(found, ".12g") if isinstance(found, float) else repr(found)) in (row["text"], row["text"][:-2])


def test_only_selects_probes_and_budget_ends_the_run(make_project: Make) -> None:
    calls = record_basket(make_project).calls
    everything = replayed(make_project, "all", BASKET, calls)
    wanted = sorted(everything.seen)[3:5]
    assert sorted(replayed(make_project, "only", BASKET, calls, only=wanted).seen) == wanted
    assert replayed(make_project, "none", BASKET, calls, budget=0).end == "budget"


def test_call_of_more_weight_has_more_copies_and_they_are_made_sooner(make_project: Make) -> None:
    calls = [{**row, "weight": 1 + 4 * (row["qualname"] == "mean")} for row in record_basket(make_project).calls]
    rows = replayed(make_project, "gold", BASKET, calls, mutants=5).rows
    copies: dict[str, list[str]] = {}
    for key in (row["key"] for row in rows if row.get("key", "").endswith("|return")):
        copies.setdefault(key.partition("|")[0], []).append(key)
    counts = {name: len(each) / len({key.split("|")[1] for key in each}) for name, each in copies.items()}
    assert counts["shop:mean"] > 2 * max(count for name, count in counts.items() if name != "shop:mean")
    order = [row["key"] for row in rows if row.get("key", "").endswith("|return")]
    others = [at for at, key in enumerate(order) if "mean" not in key and "|m2|" in key]
    assert sum("mean" in key for key in order[: others[0]]) > 5, "before the second copy of any other"
