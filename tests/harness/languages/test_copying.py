"""Copies of tests: what may change in them, and that many of them stand in one file that parses."""

import re

import pytest

from assay.harness import languages
from assay.harness.languages.copying import MARK, CopiedFile
from assay.harness.languages.syntax import parse
from tables import read_tables

TEXTS = read_tables(__file__)

GO = TEXTS["go"]
SCRIPT = """const calc = require("./calc");
import { other } from "other";

const TABLE = [
  { name: "sums", input: [1, 2] },
  { name: "more", input: [3, 4] }, // a comment
];

describe("calc", () => {
  for (const row of TABLE) (row.off ? it.skip : it)(row.name, () => expect(calc.add(row.input)).toBe(3));
  it("adds", () => { expect(calc.add("abc", `ab`)).toBe(`${other}`); });
  it("uses", () => { setTimeout(() => 0, 50); expect(TABLE.length).toBe(2); });
});
"""
FILES = {"go": ("a_test.go", GO), "javascript": ("a.test.js", SCRIPT), "typescript": ("a.test.ts", SCRIPT)}


def read(language: str, text: str = "") -> CopiedFile:
    copying = languages.find(language).SYNTAX.copying
    assert copying is not None
    file = CopiedFile.read(language, FILES[language][0], text or FILES[language][1], copying)
    assert file is not None
    return file


def sources(language: str) -> list[str]:
    return [literal.source for test in read(language).tests for literal in test.literals]


def write_copy(language: str, source: str, new: str, text: str = "") -> str:
    file = read(language, text)
    (found,) = [(test, each) for test in file.tests for each in test.literals if each.source == source]
    return file.copy_test(*found, new, 7)


@pytest.mark.parametrize("language", FILES)
def test_a_file_with_a_copy_of_every_literal_parses_and_names_each_copy(language: str) -> None:
    file = read(language)
    pairs = [(test, literal) for test in file.tests for literal in test.literals]
    text = file.render_file(file.copy_test(*pair, pair[1].source, number) for number, pair in enumerate(pairs))
    parsed = parse(language, FILES[language][0], text)
    assert parsed is not None
    assert not parsed.root.has_error
    assert re.findall(rf"{MARK}(\d+)", text) == [str(number) for number in range(len(pairs))]


@pytest.mark.parametrize("language", FILES)
def test_what_does_not_parse_has_no_copies(language: str) -> None:
    copying = languages.find(language).SYNTAX.copying
    assert copying is not None
    assert CopiedFile.read(language, FILES[language][0], "func ((", copying) is None


def test_literals_stay_where_another_would_not_compile_or_is_no_input() -> None:
    assert sources("go") == ['"one"', "1", '"two"', "2", '"a"', '"b"', '"c"']
    assert sources("javascript") == ['"sums"', "1", "2", '"more"', "3", "4", '"abc"', "`ab`", "`${other}`", "0", "2"]


def test_a_copy_of_go_stands_beside_its_test_with_only_its_own_row_and_survives_a_panic() -> None:
    text = write_copy("go", '"two"', '"zwei"')
    assert '"one"' not in text
    assert '{{"zwei", 2}}' in text
    assert text.startswith("func TestAddAssay__7(t *testing.T) {\ndefer func() { if raised := recover(); ")
    assert read("go").render_file([text]).startswith(GO)


def test_a_table_keeps_rows_that_use_what_its_test_declares() -> None:
    first, text = "rows := []struct", GO.replace('{"one", 1}', "{one, 1}")
    text = text.replace(first, f'one := "uno"\n\t{first}', 1)
    assert "{one, 1}" in write_copy("go", '"two"', '"zwei"', text)


def test_a_list_that_no_loop_goes_through_keeps_its_elements() -> None:
    assert '[]string{"a", "z"}' in write_copy("go", '"b"', '"z"')


def test_a_copy_of_a_row_is_the_script_without_other_tests_but_those_that_use_its_table() -> None:
    text = write_copy("javascript", "3", "5")
    assert "input: [5, 4]" in text
    assert '"sums"' not in text
    assert 'it("adds"' not in text
    assert 'it("uses"' in text
    assert "import" not in text
    assert read("javascript").render_file([text]).startswith('import { other } from "other";\ndescribe("Assay__7"')


def test_a_copy_of_a_call_keeps_the_table_that_it_uses_alone() -> None:
    assert "input: [" not in write_copy("javascript", '"abc"', '"abd"')
    file = read("javascript")
    uses = next(test for test in file.tests if test.source.startswith('it("uses"'))
    text = file.copy_test(uses, uses.literals[0], "3", 7)
    assert text.count("input: [") == 2
    assert 'it("adds"' not in text


@pytest.mark.parametrize(
    ("source", "value"),
    [(r'"a\n\u00e9\x41"', "a\né\x41"), (r"`a\n`", r"a\n"), ("`${a}`", None), ("12", 12), ("1.5", 1.5), ("true", None)],
)
def test_value_of_a_literal_is_what_code_sees(source: str, value: object) -> None:
    (test,) = [test for test in read("go").tests if test.source.startswith("func TestName")]
    literal = test.literals[0]
    assert type(literal)(source, 1, 0, 0).value == value
