"""Edits that quote lines: where they apply, and the errors if they do not."""

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.edits.file_edits import EditProblem, FileEdit, apply_edits, merge_intervals
from assay.harness.edits.matching import Match

# Lines 1 to 8; line 2 and line 7 are the same.
EIGHT = "a = 1\nsame()\nb = 2\nc = 3\nd = 4\ne = 5\nsame()\nf = 6\n"


def one(
    text: str, search: str, replace: str, *intervals: tuple[int, int]
) -> tuple[str, Match | None, EditProblem | None]:
    """Apply one edit; return the text after it, the rung it was found on, and the problem."""
    applied = apply_edits({"f.py": text}, [FileEdit("f.py", search, replace)], {"f.py": intervals})
    (result,) = applied.results
    return applied.files.get("f.py", text), result.match, result.problem


def test_unique_lines_are_replaced() -> None:
    assert one(EIGHT, "c = 3", "c = 33") == (EIGHT.replace("c = 3", "c = 33"), Match.EXACT, None)


def test_quote_matches_whole_lines_only() -> None:
    """``= 3`` is part of a line only: the first rung must not find it, and the others find nothing alike."""
    assert one(EIGHT, "= 3", "= 4") == (EIGHT, None, EditProblem.NOT_FOUND)


def test_ambiguous_lines_are_reported_and_not_changed() -> None:
    applied = apply_edits({"f.py": EIGHT}, [FileEdit("f.py", "same()", "other()")])
    assert applied.files == {}
    assert applied.results[0].problem is EditProblem.AMBIGUOUS
    assert applied.results[0].lines == (2, 7)
    assert "lines 2, 7" in applied.report()


def test_interval_makes_ambiguous_lines_unique() -> None:
    """Lines 5 to 8 hold ``same()`` once, in line 7."""
    text, match, _ = one(EIGHT, "same()", "other()", (5, 8))
    assert text == "a = 1\nsame()\nb = 2\nc = 3\nd = 4\ne = 5\nother()\nf = 6\n"
    assert match is Match.EXACT


@pytest.mark.parametrize(("interval", "applies"), [((4, 5), True), ((3, 4), False), ((5, 6), False), ((3, 6), True)])
def test_edit_across_the_end_of_an_interval_is_not_found(interval: tuple[int, int], applies: bool) -> None:
    """The quote is lines 4 and 5; both bounds of an interval belong to it."""
    text, _, problem = one(EIGHT, "c = 3\nd = 4", "x", interval)
    assert (text != EIGHT) is applies
    assert problem is (None if applies else EditProblem.NOT_FOUND)


def test_intervals_stay_right_after_edits_that_add_lines() -> None:
    """The first edit turns line 1 into four lines; the second one's interval, 7 to 8, still means the last two."""
    edits = [FileEdit("f.py", "a = 1", "a = 1\na\na\na"), FileEdit("f.py", "same()", "last()")]
    applied = apply_edits({"f.py": EIGHT}, edits, {"f.py": [(7, 8), (1, 1)]})
    assert applied.files["f.py"] == "a = 1\na\na\na\nsame()\nb = 2\nc = 3\nd = 4\ne = 5\nlast()\nf = 6\n"
    assert [each.line for each in applied.results] == [1, 10]


def test_file_without_intervals_is_open_as_a_whole() -> None:
    """What Agentless' own code fails at without saying so."""
    unbounded: list[dict[str, list[tuple[int, int]]] | None] = [None, {}, {"f.py": []}]
    for intervals in unbounded:
        applied = apply_edits({"f.py": EIGHT}, [FileEdit("f.py", "f = 6", "f = 7")], intervals)
        assert applied.files == {"f.py": EIGHT.replace("f = 6", "f = 7")}


def test_edit_applies_to_the_result_of_the_one_before() -> None:
    applied = apply_edits({"f.py": "a\nb\n"}, [FileEdit("f.py", "a", "x\ny"), FileEdit("f.py", "y", "z")])
    assert applied.files == {"f.py": "x\nz\nb\n"}


def test_equal_edits_apply_once() -> None:
    edit = FileEdit("f.py", "a", "a\na2")
    assert apply_edits({"f.py": "a\nb\n"}, [edit, edit]).files == {"f.py": "a\na2\nb\n"}


def test_whitespace_match_keeps_the_file_s_indentation() -> None:
    """The model wrote two spaces a level where the file has four, one level further out, and left out a blank line."""
    text = "class A:\n    def f(self):\n        if x:\n\n            return  1\n        return 2\n"
    search = "def f(self):\n  if x:\n    return 1\n  return 2"
    replace = "def f(self):\n  if y:\n    for z in y:\n      go(z)\n\n    return 1\n  return 2"
    after, match, _ = one(text, search, replace)
    assert match is Match.WHITESPACE
    assert after == (
        "class A:\n    def f(self):\n        if y:\n            for z in y:\n                go(z)\n\n"
        "            return 1\n        return 2\n"
    )


def test_spaces_of_the_model_become_tabs_of_the_file() -> None:
    text = "func f() {\n\tif x {\n\t\tgo()\n\t}\n}\n"
    after, _, _ = one(
        text, "    if x {\n        go()\n    }", "    if x {\n        for {\n            go()\n        }\n    }"
    )
    assert after == "func f() {\n\tif x {\n\t\tfor {\n\t\t\tgo()\n\t\t}\n\t}\n}\n"


def test_line_outside_of_the_quoted_indentation_is_dedented() -> None:
    after, _, _ = one("if a:\n        b( )\nc\n", "    b()", "    b()\nelse:\n    d()")
    assert after == "if a:\n        b()\n    else:\n        d()\nc\n"


def test_fuzzy_match_needs_half_of_the_lines() -> None:
    """The quoted line ``value = compute(1)`` (18 letters) is like ``value = compute(2)``: distance 1, 1 - 1/18 =
    0.94. The other two are unlike. One of two lines is half: found; one of three is not."""
    text = "value = compute(2)\nreturn other_thing\nlast\n"
    after, match, _ = one(text, "value = compute(1)\nzzz", "value = compute(3)")
    assert (after, match) == ("value = compute(3)\nlast\n", Match.FUZZY)
    assert one(text, "value = compute(1)\nzzz\nqqq", "x")[2] is EditProblem.NOT_FOUND


def test_fuzzy_match_is_reported() -> None:
    applied = apply_edits({"f.py": EIGHT + "value = compute(2)\n"}, [FileEdit("f.py", "value = compute(1)", "x")])
    assert [each.line for each in applied.fuzzy] == [9]
    assert "fuzzy" in applied.report()


def test_two_equally_similar_places_are_ambiguous() -> None:
    text = "value = compute(2)\n\nvalue = compute(3)\n"
    applied = apply_edits({"f.py": text}, [FileEdit("f.py", "value = compute(1)", "x")])
    assert applied.results[0].problem is EditProblem.AMBIGUOUS
    assert applied.results[0].lines == (1, 3)


def test_strict_match_wins_over_several_loose_ones() -> None:
    """Line 1 is the quote itself, line 2 differs in white space, line 3 in a letter."""
    assert one("f(a, b)\nf(a,b)\nf(a, c)\n", "f(a, b)", "g()")[:2] == ("g()\nf(a,b)\nf(a, c)\n", Match.EXACT)


def test_new_file_is_made_inside_the_repository_only() -> None:
    edits = [
        FileEdit("new.py", "", "x = 1"),
        FileEdit("f.py", "", "x"),
        FileEdit("none.py", "a", "b"),
        FileEdit("../up.py", "", "x"),
    ]
    applied = apply_edits({"f.py": "a\n"}, edits)
    assert applied.files == {"new.py": "x = 1\n"}
    problems = [each.problem for each in applied.results]
    assert problems == [None, EditProblem.EMPTY_SEARCH, EditProblem.NO_FILE, EditProblem.OUTSIDE]


def test_lines_can_be_removed_and_their_ends_are_the_file_s() -> None:
    assert one("a\nb\nc\n", "b", "")[0] == "a\nc\n"
    assert one("a\r\nb\r\n", "a\nb", "a\nx\nb")[0] == "a\r\nx\r\nb\r\n"


def test_edit_without_a_change_is_reported() -> None:
    assert one("a\nb\n", "b", "b")[2] is EditProblem.NO_CHANGE


@pytest.mark.parametrize(
    ("given_", "joined"),
    [
        ([(5, 8), (1, 2)], [(1, 2), (5, 8)]),
        ([(1, 4), (3, 6)], [(1, 6)]),
        ([(1, 4), (5, 6)], [(1, 6)]),  # they touch
        ([(-9, 2), (9, 40)], [(1, 2), (9, 10)]),
        ([(1, 9), (2, 3)], [(1, 9)]),
        ([(30, 40)], []),
    ],
)
def test_merged_clips_sorts_and_joins_intervals(given_: list[tuple[int, int]], joined: list[tuple[int, int]]) -> None:
    assert merge_intervals(given_, 10) == joined


LINES = st.lists(st.sampled_from(["a", "b", "    c", "\td", "", "x = 1"]), max_size=12)


@given(before=LINES, after=LINES)
def test_edits_from_a_diff_reproduce_it(before: list[str], after: list[str]) -> None:
    """Quote everything from the first to the last changed line, numbered so that each line is there once."""
    old = [f"{line}#{number}" for number, line in enumerate(before)]
    new = [f"{line}#{number}" for number, line in enumerate(after)]
    changes = [
        each for each in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes() if each[0] == "replace"
    ]
    edits = [FileEdit("f", "\n".join(old[a:b]), "\n".join(new[c:d])) for _, a, b, c, d in changes]
    applied = apply_edits({"f": "\n".join(old)}, edits)
    expected = list(old)
    for _, a, b, c, d in reversed(changes):
        expected[a:b] = new[c:d]
    assert not applied.failed
    assert applied.files.get("f", "\n".join(old)) == "\n".join(expected)


@given(lines=LINES, search=LINES.map("\n".join), replace=LINES.map("\n".join))
def test_only_applied_edits_change_a_file(lines: list[str], search: str, replace: str) -> None:
    applied = apply_edits({"f": "\n".join(lines)}, [FileEdit("f", search, replace)])
    assert bool(applied.files) is (applied.results[0].problem is None)
