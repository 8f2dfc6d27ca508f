"""In which functions two texts of a file differ; tests/harness/patchdiff/test_targets.py has more of Python."""

import pytest

from assay.harness.languages.differences import WHOLE_MODULE, differing_spans, find_changed_names, find_defined_name

GO = """\
package calc

const limit = 3

func Add(a, b int) int {
	return a + b
}

func Capped(a int) int {
	return min(a, limit)
}
"""


def test_functions_are_named_that_change_or_that_use_what_changes() -> None:
    assert find_changed_names("go", "calc.go", GO, GO) == []
    assert find_changed_names("go", "calc.go", GO, GO.replace("a + b", "b + a")) == ["Add"]
    assert find_changed_names("go", "calc.go", GO, GO.replace("limit = 3", "limit = 4")) == ["Capped"]
    assert find_changed_names("go", "calc.go", GO, GO.replace("const limit = 3\n", "var other = 3\n")) == [
        "Capped",
        WHOLE_MODULE,
    ]
    assert find_changed_names("go", "calc.go", None, GO) == ["Capped", "Add"]
    assert find_changed_names("go", "calc.go", "", None) == [WHOLE_MODULE], "the file is gone"


@pytest.mark.parametrize("other", [GO.replace("limit = 3", "limit = 4"), "// new\n" + GO, GO + "\nfunc New() {}\n"])
def test_a_difference_outside_of_functions_that_both_have_has_no_place(other: str) -> None:
    assert differing_spans("go", "calc.go", GO, other) is None


def test_place_of_a_difference_is_that_in_the_first_text() -> None:
    assert differing_spans("go", "calc.go", GO, GO) == ()
    assert differing_spans("go", "calc.go", "\n" + GO, GO.replace("a + b", "b + a")) == ((6, 8),)


def test_statement_of_several_lines_defines_one_name() -> None:
    lines = ["NAMES = {", "    1: 2,", "}", "f(3)"]
    assert [find_defined_name(lines, number) for number in (1, 2, 3, 4)] == ["NAMES", "NAMES", "NAMES", ""]
