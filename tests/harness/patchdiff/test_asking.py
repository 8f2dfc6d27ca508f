from dataclasses import asdict
from typing import Any

import pytest

from assay.harness.patchdiff.asking import Asked, find_asked, find_promised
from assay.harness.patchdiff.sides import Side
from assay.harness.patchdiff.targets import find_targets

BASE = """\
class Field:
    def __init__(self, name, size=0, strict=False, kind=None):
        self.name = name

    def clean(self, value, width=3):
        return value.strip()


class Char(Field):
    pass
"""
PATH = "src/shop/fields.py"
FIELD = "__import__('importlib').import_module('shop.fields').Field"


def ask(gold: str, candidate: str = "value == 'z'") -> Asked:
    """What two versions of `clean` ask for that begin with these conditions."""
    sides = {Side.BASE: "", Side.GOLD: gold, Side.CANDIDATE: candidate}
    begins = {side: f"if {each}:\n            return 1\n        " if each else "" for side, each in sides.items()}
    texts = {side: {PATH: BASE.replace("return value", begin + "return value")} for side, begin in begins.items()}
    return find_asked(texts, find_targets("python", texts), ("alpha",))


@pytest.mark.parametrize(
    ("condition", "values"),
    [
        ("isinstance(value, (list, tuple))", {"[1]", "(1,)", "type('Sub', (list,), {})()"}),
        ("issubclass(value, Field)", {FIELD, f"type('Sub', ({FIELD},), {{}})"}),
        ("hasattr(value, 'items')", {"type('Has', (), {'items': None})()"}),
        ("callable(value)", {"len"}),
        ("value is None", {"None"}),
        ("value > 7", {"6", "7", "8"}),
        ("3 == len(value)", {"[0] * 3", "'a' * 2"}),
        ("value in ('x', 'y')", {"'x'", "'y'", "('x', 'y')"}),
        ("not (value and value.startswith('-'))", {"'-'", "'a-'"}),
    ],
)
def test_conditions_of_gold_give_values_for_both_answers(condition: str, values: set[str]) -> None:
    assert values <= {*ask(condition).gold["value"]}


def test_objects_of_a_class_of_the_project_are_those_that_tests_make() -> None:
    assert ask("isinstance(value, Field)").gold["value"] == ("@Field",)


def test_conditions_of_the_candidate_and_of_mere_truth_are_kept_apart() -> None:
    asked = ask("value", "width == 5 and value.is_real")
    assert "5" in asked.candidate["width"]
    assert "5" not in asked.gold.get("width", ())
    assert "None" in asked.empty["value"]
    assert asked.attributes == ["real"]


def test_options_parameters_and_classes_of_the_targets_are_known() -> None:
    asked = ask("width == 5")
    assert asked.parameters == {"clean": ("value", "width"), "Field": ("name", "size", "strict", "kind")}
    assert asked.keywords["Field"]["strict"] == ("False", "True")
    assert asked.keywords["clean"]["width"][:3] == ("3", "5", "6")
    assert asked.relatives["Char"] == [FIELD]


def test_options_that_a_function_takes_out_of_its_keywords_are_known() -> None:
    code = "def f(x, **options):\n    return x, options.get('deep', 3), options.pop('flat', LOUD)"
    texts = {side: {PATH: f"{code}, {side.value!r}\n"} for side in (Side.BASE, Side.GOLD, Side.CANDIDATE)}
    keywords = find_asked(texts, find_targets("python", texts), ()).keywords["f"]
    assert keywords["deep"] == ("3", "4", "2")
    assert {"LOUD", "True", "False"} <= {*keywords["flat"]}


def test_unparsable_file_asks_for_nothing() -> None:
    texts = {side: {PATH: "print 1\n"} for side in (Side.BASE, Side.GOLD, Side.CANDIDATE)}
    found: dict[str, Any] = asdict(find_asked(texts, (), ()))
    assert not any(found.values())


@pytest.mark.parametrize(
    ("patch", "doc", "promised"),
    [
        ("+    with pytest.raises(errors.BadName):", "", {"BadName"}),
        ("+    with self.assertRaisesRegex((KeyError, ValueError), 'x'):", "", {"KeyError", "ValueError"}),
        ("     with raises(KeyError):", "No KeyError.", set()),
        ("", "Raises\n    ======\n\n    ValueError : always\n    KeyError : never", {"ValueError", "KeyError"}),
        ("", ":raises errors.BadNameError: often", {"BadNameError"}),
    ],
)
def test_errors_that_tests_or_documentation_ask_for(patch: str, doc: str, promised: set[str]) -> None:
    texts = {side: {PATH: f'def f():\n    """{doc}"""\n    return {side.value!r}\n'} for side in Side}
    other = 'def g():\n    """Raises OSError."""\n'
    gold = texts[Side.GOLD][PATH]
    assert find_promised(patch, [gold, other, "print 1"], find_targets("python", texts)) == promised
