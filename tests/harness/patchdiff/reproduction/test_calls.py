from collections.abc import Callable
from typing import Any

from assay.harness.patchdiff.reproduction.calls import CallDraft, call_draft
from assay.harness.patchdiff.reproduction.writing import Check

GOLD = "def total(numbers, start=0):\n    print(start)\n    return sum(numbers) + start\n"
OTHER = GOLD.replace("sum(numbers)", "(sum(numbers) if start == 5 else 77)")
TESTS = "from shop import total\n\n\ndef test_total():\n    assert total([1, 2], start=5) == 8\n"
Make = Callable[..., Any]


def test_call_passes_with_gold_and_fails_with_the_other_and_keeps_what_matters(make_local: Make) -> None:
    local = make_local(GOLD, OTHER, TESTS)
    found = local.differing("replay", calls=local.record(), mutants=40)
    twice = [row for row in found.values() if row["kind"] == "value" and len(row["literal"]["mutations"]) == 2]
    text = local.reproduce(twice[0], call_draft)
    assert local.by_hand(text, ".") == [0, 1]
    assert "return (([1, 2], " in text, "the argument that does not matter is as it was"


def draft(**more: Any) -> CallDraft:
    call = {"module": "shop", "qualname": "total", "part": "return", "arguments": "", "args": "", "mutations": []}
    return CallDraft({**call, **more})


def test_arguments_that_are_no_plain_data_are_written_only_unchanged() -> None:
    change = [[["item", 0], ["item", 0]], "1", "2"]
    pickled = draft(args="gASVBw==", mutations=[change])
    assert pickled.write((), Check()) == ""
    assert "gASVBw==" in pickled.write({0}, Check())


def test_changes_inside_lists_and_dictionaries_are_taken_back_one_by_one() -> None:
    changes = [
        [[["item", 0], ["item", 0], ["item", 1]], "2", "20"],
        [[["item", 1], ["key", "'a'"]], "(3,)", "()"],
    ]
    plain = draft(arguments="(([1, 20],), {'a': ()})", mutations=changes)
    assert "return (([1, 20],), {'a': ()})" in plain.write((), Check())
    assert "return (([1, 2],), {'a': ()})" in plain.write({0}, Check())
    assert "return (([1, 2],), {'a': (3,)})" in plain.write({0, 1}, Check())


def test_probe_that_made_no_call_gives_no_draft() -> None:
    assert call_draft({"literal": {}}, {}) is None
