from collections.abc import Callable
from typing import Any

from assay.harness.patchdiff.reproduction.calls import CallDraft, make_call_draft
from assay.harness.patchdiff.reproduction.writing import Check

GOLD = "def total(numbers, start=0):\n    print(start)\n    return sum(numbers) + start\n"
OTHER = GOLD.replace("sum(numbers)", "(sum(numbers) if start == 5 else 77)")
TESTS = "from shop import total\n\n\ndef test_total():\n    assert total([1, 2], start=5) == 8\n"
Make = Callable[..., Any]


def test_call_passes_with_gold_and_fails_with_the_other(make_local: Make) -> None:
    local = make_local(GOLD, OTHER, TESTS)
    found = local.differing("replay", calls=local.record(), mutants=40)
    changed = [row for row in found.values() if row["kind"] == "value" and row["literal"]["mutations"]]
    text = local.reproduce(changed[0], make_call_draft)
    assert local.by_hand(text, ".") == [0, 1]
    assert f"return {changed[0]['literal']['arguments']}" in text


def draft(**more: Any) -> CallDraft:
    call = {"module": "shop", "qualname": "total", "part": "return", "arguments": "", "args": "", "mutations": []}
    return CallDraft({**call, **more})


def test_arguments_that_are_no_plain_data_are_written_only_unchanged() -> None:
    change = [[["item", 0], ["item", 0]], "1", "2"]
    assert draft(args="gASVBw==", mutations=[change]).write(Check()) == ""
    assert "gASVBw==" in draft(args="gASVBw==").write(Check())


def test_probe_that_made_no_call_gives_no_draft() -> None:
    assert make_call_draft({"literal": {}}, {}) is None
