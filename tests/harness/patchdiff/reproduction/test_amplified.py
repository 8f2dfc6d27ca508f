"""Divergences of ``amplify`` as files that pass with the one version and fail with the other."""

from collections.abc import Callable
from typing import Any

import pytest

from assay.harness.patchdiff.reproduction.amplified import make_amplified_draft
from probed import SHOP
from tables import read_tables

pytestmark = pytest.mark.slow

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
VERSIONS = {
    "hard-coded": GOLD.replace("count >= 10", "(count, each) == (10, 10)"),
    "partial": GOLD.replace("if count < 0:\n        raise ValueError", "if count < 0:\n        raise LookupError"),
    "other error": GOLD.replace("raise LookupError", "raise RuntimeError"),
}
CASES = read_tables(__file__)
Make = Callable[..., Any]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_each_kind_of_place_passes_with_gold_and_fails_with_the_other(make_local: Make, case: dict[str, str]) -> None:
    local = make_local(GOLD, VERSIONS[case["version"]], case["tests"])
    differing = local.differing("amplify", mutants=40)
    line = next(row for _, row in sorted(differing.items()) if row["literal"]["mode"] == case["mode"])
    text = local.reproduce(line, make_amplified_draft)
    assert local.by_hand(text) == [0, 1], text


def test_file_holds_one_test_and_the_changes_that_its_place_depends_on(make_local: Make) -> None:
    local = make_local(GOLD, VERSIONS["hard-coded"], CASES["plain"]["tests"])
    differing = local.differing("amplify", mutants=60)
    rows = (row for key, row in sorted(differing.items()) if "test_price|" in key)
    line = next(row for row in rows if row["literal"]["expression"] == "first")
    text = local.reproduce(line, make_amplified_draft)
    assert text.split('"""')[1].count(" -> ") == len(line["literal"]["mutations"])
    assert "test_other" not in text
    assert "look.value = first" in text


def test_probe_without_its_test_file_gives_no_draft() -> None:
    probe = {"literal": {"test": "a.py::test", "line": 1, "expression": "x", "mode": "operand", "mutations": []}}
    assert make_amplified_draft(probe, {}) is None
    assert make_amplified_draft({"literal": {}}, {"a.py": ""}) is None
