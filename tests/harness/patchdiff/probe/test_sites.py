import ast
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from assay.harness.patchdiff.probe import sites

SOURCE = """\
def test_it():
    one = 1
    assert one + 1 == 2 and one
    with raises(ValueError):
        int("x")
"""


def observed(source: str) -> list[sites.Site]:
    found: list[sites.Site] = []
    made = sites.Instrument(source, "test_it.py", 1, lambda _name: (0, ()), found).rewrite()
    compile(made, "test_it.py", "exec")
    return found


def test_every_operand_and_block_has_a_site() -> None:
    found = {(each.text, each.mode) for each in observed(SOURCE)}
    assert {("one + 1", "operand"), ("one", "operand"), ('int("x")', "raised")} <= found
    assert [each.mode for each in observed(SOURCE)].count("whole") == 1


def test_instrumented_test_runs_and_looks() -> None:
    found: list[sites.Site] = []
    made = sites.Instrument("def test_it():\n    assert [one] == [1]\n", "t.py", 1, lambda _n: (0, ()), found).rewrite()
    looked: list[str] = []

    def see(number: int) -> Any:
        looked.append(found[number].text)
        return nullcontext(SimpleNamespace())

    space: dict[str, Any] = {sites.SEE: see, "one": 1}
    exec(compile(made, "t.py", "exec"), space)
    space["test_it"]()
    assert looked[1:] == ["[one]", "[one] == [1]"]


@pytest.mark.parametrize(
    ("nodeid", "plain", "number"),
    [("t.py::test_a__assay12[x]", "t.py::test_a[x]", 12), ("t.py::test_a[__assay3]", "t.py::test_a[]", 0)],
)
def test_copies_are_numbered_by_their_names(nodeid: str, plain: str, number: int) -> None:
    assert sites.copy_number(nodeid) == number
    assert sites.strip_mark(nodeid) == plain


def test_import_that_fails_costs_only_its_own_name() -> None:
    made = sites.Instrument("from os import sep, absent\n", "t.py", 1, lambda _name: (0, ()), []).rewrite()
    space: dict[str, Any] = {}
    exec(compile(made, "t.py", "exec"), space)
    assert space["sep"]


def test_long_tests_have_fewer_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sites, "MOST_COPIED", 10 * len(SOURCE))
    made = sites.Instrument(SOURCE, "t.py", 1, lambda _name: (50, range(1, 51)), []).rewrite()
    assert ast.unparse(made).count(f"def test_it{sites.MARK}") == 10
