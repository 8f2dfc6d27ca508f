import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.solvers.retrieval.numbering import apply_numbered, make_numbered_edit, number_lines, strip_numbers

TWICE = "def a():\n    return 1\n\n\ndef b():\n    return 1\n"
LINES = st.lists(
    st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=6), min_size=1, max_size=8
)


def test_numbered_puts_a_number_before_every_line() -> None:
    assert number_lines(TWICE) == "1|def a():\n2|    return 1\n3|\n4|\n5|def b():\n6|    return 1"
    assert number_lines("no end") == "1|no end"


@pytest.mark.parametrize(
    ("text", "bare", "numbers"),
    [
        ("5|def b():\n6|    return 1", "def b():\n    return 1", [5, 6]),
        ("\n  6|    return 1\n", "    return 1", [6]),
        ("    return 1", "    return 1", []),
        ("3|\n4|", "\n", [3, 4]),
        ("", "", []),
    ],
)
def test_without_numbers_removes_them(text: str, bare: str, numbers: list[int]) -> None:
    assert strip_numbers(text) == (bare, numbers)


@given(LINES)
def test_without_numbers_reverses_numbered(lines: list[str]) -> None:
    text = "\n".join(lines)
    assert strip_numbers(number_lines(f"{text}\n")) == (text, list(range(1, len(lines) + 1)))


def test_line_number_selects_among_equal_lines() -> None:
    applied = apply_numbered({"a.py": TWICE}, [make_numbered_edit("a.py", "6|    return 1", "6|    return 2")])
    assert applied.files == {"a.py": TWICE[:-2] + "2\n"}


def test_edits_do_not_shift_each_other() -> None:
    edits = [
        make_numbered_edit("a.py", "2|    return 1", "    x = 1\n    y = 2\n    return x + y"),
        make_numbered_edit("a.py", "6|    return 1", "    return 4"),
    ]
    expected = TWICE.replace("return 1", "x = 1\n    y = 2\n    return x + y", 1).replace("return 1", "return 4")
    for given_edits in (edits, edits[::-1], edits * 2):
        assert apply_numbered({"a.py": TWICE}, given_edits).files == {"a.py": expected}


def test_wrong_number_is_ignored_for_unique_lines() -> None:
    applied = apply_numbered({"a.py": TWICE}, [make_numbered_edit("a.py", "2|def b():", "def c():")])
    assert applied.files == {"a.py": TWICE.replace("def b", "def c")}
    applied = apply_numbered({"a.py": TWICE}, [make_numbered_edit("a.py", "1|    return 1", "    return 2")])
    assert not applied.files
    assert str(applied.failed[0]).endswith("stand in more than one place (lines 2, 6)")


def test_exact_lines_elsewhere_win_over_similar_ones_at_the_number() -> None:
    text = "total = first + second\nprint(1)\ntotal = first - second\n"
    applied = apply_numbered({"a.py": text}, [make_numbered_edit("a.py", "1|total = first - second", "total = 0")])
    assert applied.files == {"a.py": "total = first + second\nprint(1)\ntotal = 0\n"}


def test_lines_are_removed_and_files_made() -> None:
    edits = [make_numbered_edit("a.py", "5|def b():\n6|    return 1", ""), make_numbered_edit("b.py", "", "x = 1")]
    assert apply_numbered({"a.py": TWICE}, edits).files == {"a.py": "def a():\n    return 1\n\n\n", "b.py": "x = 1\n"}
