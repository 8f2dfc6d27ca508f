"""What each operator puts into a test, and what its calls show of a wrong version that passes the tests."""

import ast
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest

from assay.harness.patchdiff.asking import Asked
from assay.harness.patchdiff.contract import ALL_OPERATORS
from assay.harness.patchdiff.probe import mutate, operators, scope
from tables import read_tables

TEST = """\
def test_field(self):
    field = Field("a", size=3)
    run("one", "two")
    assert field.clean("x") == "x"
    self.assertEqual(field.clean("y", width=[2]), 3)
"""
NEAR = Asked(
    gold={"value": ("[1]", "@Field")},
    candidate={"width": ("7",)},
    empty={"value": ("None",)},
    attributes=["real"],
    parameters={"clean": ("value", "width"), "Field": ("name", "size")},
    keywords={"clean": {"width": ("3", "4")}, "Field": {"strict": ("False", "True"), "kind": ("None", "0")}},
    relatives={"Field": ["shop.Char"]},
    dunders=["__eq__"],
    words=("-w", "more"),
)
CASES = read_tables(__file__)


def make(name: str, test: str = TEST, count: int = 200, asked: Asked = NEAR) -> Any:
    """The copies that one operator makes."""
    known = mutate.Material((), (), {}, {"Field"}, asked=asdict(asked), operators=[name])
    material = scope.collect_material(ast.parse(test), test.splitlines(True), known)
    return operators.make_copies(test, scope.make_scope(mutate.parse_function(test), test, material), "1", count)


@pytest.mark.parametrize("case", CASES["changes"], ids=str)
def test_operator_makes_calls_by_its_rule(case: dict[str, Any]) -> None:
    copies = make(case["operator"])
    edits = {(edit.old, edit.new) for _, _, edits, _ in copies for edit in edits}
    assert {(case["old"], case["new"])} <= edits
    assert {name for name, *_ in copies} == {case["operator"]}


@pytest.mark.parametrize("name", [each.name for each in operators.OPERATORS])
def test_copies_parse_differ_and_keep_what_is_expected(name: str) -> None:
    copies = make(name)
    assert copies
    texts = [text for _, text, _, _ in copies]
    assert len({*texts, TEST}) == len(texts) + 1
    for _, text, edits, _ in copies:
        ast.parse(text)
        assert text == mutate.apply(TEST, edits)
        assert ' == "x"' in text
        assert text.endswith(", 3)\n")


def test_fresh_objects_are_asked_one_by_one_and_beside_others() -> None:
    texts = [text for _, text, _, _ in make("dunder")]
    assert all("    len({Field(" in text or "    len({field, Field(" in text for text in texts)
    first = texts[0].splitlines()
    assert first[1].strip().startswith(('Field("a", size=3) == ', "field = "))
    assert all(each.isspace() or each.startswith("    ") for each in first[1:])


def test_nothing_asked_makes_no_copy_and_few_are_wanted() -> None:
    assert make("gold_branch", asked=Asked()) == []
    assert len(make("gold_value", count=2)) == 2


Make = Callable[..., Any]


def compose(make_project: Make, name: str, code: str, asked: Asked, target: str, **job: Any) -> Any:
    project = make_project(name, code, CASES["tests"])
    rules = {"operators": list(ALL_OPERATORS), "asked": asdict(asked), "mutants": 120, **job}
    return project.run("amplify", targets=project.targets(target), **rules)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES["wrong"], ids=lambda case: case["operator"])
def test_wrong_version_that_passes_shows_in_the_calls_of_an_operator(make_project: Make, case: dict[str, Any]) -> None:
    asked = Asked(**case["asked"])
    gold, wrong = (
        compose(make_project, side, case[side], asked, case["target"], operators=[case["operator"]])
        for side in ("gold", "wrong")
    )
    seen, other = gold.observations(), wrong.observations()
    apart = [key for key in seen if key in other and seen[key] != other[key] and gold.seen[key]["target"]]
    assert apart
    assert {gold.seen[key]["operator"] for key in gold.seen} == {case["operator"]}


@pytest.mark.slow
def test_tests_as_they_are_count_for_snippets_alone(make_project: Make) -> None:
    code = CASES["wrong"][0]["gold"]
    ran = compose(make_project, "plain", code, Asked(), "clean", snippets="tests/test_shop.py", mutants=0)
    assert {row["operator"] for row in ran.seen.values()} == {"snippet"}
    assert not any(row["mutated"] for row in ran.seen.values())
    assert not compose(make_project, "none", code, Asked(), "clean", mutants=0).seen
