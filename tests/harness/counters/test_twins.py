"""Counter-tests as text, by language: ``twins.yaml``."""

import random
from ast import literal_eval
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness import languages
from assay.harness.counters.twins import AssertedFile, change_literal, respell_literal
from assay.harness.domain import CounterForm
from assay.harness.languages.base import Asserting
from tables import read_tables

TABLE = read_tables(__file__)


class FirstSide(random.Random):
    """Draws what stands first."""

    def choice(self, seq: Any) -> Any:
        return seq[0]

    def choices(self, population: Any, *_weights: Any, k: int = 1, **_more: Any) -> list[Any]:
        return [population[0]] * k


def read_file(language: str, path: str, text: str) -> AssertedFile:
    file = AssertedFile.read(language, path, text, FirstSide())
    assert file is not None
    return file


def list_cases() -> Iterator[Any]:
    for row in TABLE:
        for assertion, expected in row["assertions"].items():
            yield pytest.param(row, assertion, expected, id=f"{row['language']}: {assertion}")


@pytest.mark.parametrize(("row", "assertion", "expected"), [*list_cases()])
def test_strongest_counter_test_of_an_assertion(row: dict[str, Any], assertion: str, expected: str) -> None:
    text = row["frame"].replace("{}", assertion)
    file = read_file(row["language"], row["path"], text)
    (test,) = file.find_tests(row["label"])
    found = "none"
    for twins in file.list_twins(test):
        new = file.edit(twins[0].edits)
        lines = [line.strip() for old, line in zip(text.split("\n"), new.split("\n"), strict=True) if old != line]
        found = f"{twins[0].form}: {' '.join(lines)}"
    assert found == expected


PYTHON = """\
def test_two():
    assert f(1) == "a"
    x = g(2)
    assert h(x) == 3


class TestMore:
    def test_two_more(self):
        \"\"\"Sums are right.\"\"\"
        assert f(1) == 2
"""


@pytest.mark.parametrize(
    ("line", "edited"), [((), '"b"'), ((2,), '"b"'), ((3,), "4"), ((4,), "4"), ((2, 4), '"b" 4'), ((90,), '"b"')]
)
def test_the_assertions_that_flip_are_edited(line: tuple[int, ...], edited: str) -> None:
    """The line of a call that raises stands for the next assertion."""
    file = read_file("python", "test_a.py", PYTHON)
    (test,) = file.find_tests("test_a.py::test_two")
    assert " ".join(twins[0].edits[0][2] for twins in file.list_twins(test, line)) == edited


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("test_a.py::test_two", "test_two"),
        ("test_a.py::TestMore::test_two_more", "test_two_more"),
        ("test_two_more (tests.TestMore)", "test_two_more"),
        ("test_a.py::test_two[a-b]", "test_two"),
        ("Sums are right.", "test_two_more"),
    ],
)
def test_label_names_a_test(label: str, name: str) -> None:
    file = read_file("python", "test_a.py", PYTHON)
    assert [test.name for test in file.find_tests(label)] == [name]


def test_assertions_of_a_helper_in_the_same_file_count() -> None:
    text = "def common(x):\n    assert x\n    assert f(x) == 3\n\n\ndef test_a():\n    common(g(1))\n"
    file = read_file("python", "test_a.py", text)
    (test,) = file.find_tests("test_a")
    found = [twins[0].edits[0][2] for lines in ((7,), (7, 3)) for twins in file.list_twins(test, lines)]
    assert found == ["assert not (x)", "4"]


def test_failure_inside_of_a_statement_is_that_statements() -> None:
    """The line is the one of ``t.Fatal``, and the condition stands above."""
    text = "func TestX(t *testing.T) {\n\tif f(1) != 3 {\n\t\tt.Fatal()\n\t}\n\tif f(2) != 4 {\n\t\tt.Fatal()\n\t}\n}\n"
    file = read_file("go", "a_test.go", f"package a\n{text}")
    found = [twins[0].edits[0][2] for line in (4, 7) for twins in file.list_twins(file.tests[0], (line,))]
    assert found == ["4", "5"]


def test_file_without_code_has_no_assertions() -> None:
    assert AssertedFile.read("python", "tests/data.txt", "assert f() == 1", random.Random()) is None


@given(st.integers(0) | st.text("ab z\\'\"{}", max_size=9) | st.floats(0.001, 1e6), st.randoms())
def test_literal_changes_its_value_and_keeps_its_type(value: float | str, dice: random.Random) -> None:
    changed = change_literal(repr(value), dice)
    other = eval(changed)
    assert other != value
    assert type(other) is type(value)


def test_what_is_given_to_the_product_is_never_edited() -> None:
    """Another input may have the old answer, and an honest patch would pass."""
    text = 'def test_a():\n    assert f("in") == g("out")\n    assert f("in")["key"] == other\n    assert f("in")\n'
    file = read_file("python", "test_a.py", text)
    (test,) = file.find_tests("test_a")
    for line in (2, 3, 4):
        for twins in file.list_twins(test, (line,)):
            for twin in twins:
                assert 'f("in")' in file.edit(twin.edits).split("\n")[line - 1]


@given(st.integers())
def test_other_value_is_none_that_the_test_gives_to_the_product(seed: int) -> None:
    """The product would tell it from the right one: it is an argument."""
    file = AssertedFile.read("python", "test_a.py", "def test_a():\n    assert add(2, 3) == 5\n", random.Random(seed))
    assert file is not None
    (twins,) = file.list_twins(file.tests[0])
    assert twins[0].form is CounterForm.NEAR
    assert twins[0].edits[0][2] not in {"2", "3", "5"}


def test_forms_are_listed_strongest_first() -> None:
    order = list(CounterForm)
    file = read_file("python", "test_a.py", 'def test_a():\n    assert f(1) == ["a", 2]\n')
    (twins,) = file.list_twins(file.tests[0])
    assert [each.form for each in twins] == sorted((each.form for each in twins), key=order.index)


def know(language: str) -> Asserting:
    asserting = languages.find(language).SYNTAX.asserting
    assert asserting is not None
    return asserting


@given(st.integers(0) | st.text(max_size=9), st.randoms())
def test_value_stays(value: int | str, dice: random.Random) -> None:
    source = repr(value)
    respelled = respell_literal(source, know("python"), dice)
    assert respelled != source
    assert not respelled or literal_eval(respelled) == value


@pytest.mark.parametrize(
    ("language", "source", "respelled"),
    [
        ("python", "'b'", r"'\x62'"),
        ("python", 'f"b"', ""),
        ("javascript", "'b'", r"'\x62'"),
        ("typescript", "`b`", ""),
        ("go", '"b"', r'"\x62"'),
        ("rust", '"b"', r'"\x62"'),
        ("rust", "30", "0x1e"),
        ("c", '"b1"', r'"\1421"'),
        ("cpp", "0", "0x0"),
        ("java", '"b"', r'"\142"'),
        ("java", "3L", ""),
        ("kotlin", '"b"', r'"\u0062"'),
        ("kotlin", '"$b"', ""),
        ("php", '"b"', r'"\x62"'),
        ("php", "'b'", ""),
        ("ruby", '"b"', r'"\x62"'),
        ("ruby", '"#{b}"', ""),
    ],
)
def test_spelling_of_a_language(language: str, source: str, respelled: str) -> None:
    assert respell_literal(source, know(language), random.Random(1)) == respelled
