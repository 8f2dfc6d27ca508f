import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.solvers.agentless.excerpt import excerpt, shares
from assay.harness.edits.file_edits import merge_intervals

TEXTS = {"a.py": "one\ntwo\nsix\n", "b.py": "seven\neight\nnine1\n", "c.py": ""}
"""Lines of 4 characters with their ends: 12; lines of 6: 18; and no line."""
ALL = {"a.py": (), "b.py": (), "c.py": ()}


@pytest.mark.parametrize(
    ("room", "granted"),
    [
        (200, [10, 100, 50]),
        (100, [10, 45, 45]),  # 33 to each of three; the first needs 10; the 90 left are 45 to each of two
        (130, [10, 70, 50]),  # the 120 left are 60 to each of two; one needs 50
        (29, [9, 10, 10]),
        (0, [0, 0, 0]),
    ],
)
def test_shares_divide_the_room_and_small_files_leave_their_rest(room: int, granted: list[int]) -> None:
    assert list(shares({"small": 10, "large": 100, "middle": 50}, room).values()) == granted


def test_code_that_fits_is_shown_whole() -> None:
    """12 + 18 characters."""
    cut = excerpt(TEXTS, ALL, 30)
    assert cut.text == (
        "### a.py\n```\none\ntwo\nsix\n```\n\n### b.py\n```\nseven\neight\nnine1\n```\n\n### c.py\n```\n\n```"
    )
    assert cut.places == ALL


def test_code_that_does_not_fit_is_cut_with_a_remark() -> None:
    """Two of three files share 28, 14 each; the first needs 12 and leaves 16: two lines of 6, but not three."""
    cut = excerpt(TEXTS, ALL, 28)
    assert cut.places == {"a.py": (), "b.py": [(1, 2)], "c.py": ()}
    assert "one\ntwo\nsix\n```" in cut.text
    assert "seven\neight\n...\n```" in cut.text
    assert "nine" not in cut.text
    assert cut.text.endswith("left out are:\n- b.py: 1 of the 3 lines that belong here")


def test_file_of_which_no_line_fits_is_missing() -> None:
    """5 for each of two: a line of 4, and none of 6. A file without intervals would be open as a whole."""
    cut = excerpt(TEXTS, ALL, 10)
    assert cut.places == {"a.py": [(1, 1)], "c.py": ()}
    assert "### b.py" not in cut.text
    assert "- b.py: 3 of the 3 lines" in cut.text


def test_line_numbers_count_as_characters() -> None:
    """Lines 1 and 3 have 6 characters each with numbers, so 11 hold one; 4 each without, so 11 hold both."""
    places = {"a.py": [(1, 1), (3, 3)]}
    assert excerpt(TEXTS, places, 11).places == places
    cut = excerpt(TEXTS, places, 11, numbered=True)
    assert cut.places == {"a.py": [(1, 1)]}
    assert "1|one\n..." in cut.text
    assert "- a.py: 1 of the 2 lines" in cut.text


LINES = st.lists(st.text("ab ", max_size=9), min_size=1, max_size=20)
SPANS = st.lists(st.tuples(st.integers(1, 20), st.integers(1, 20)), max_size=3)


@given(st.lists(st.tuples(LINES, SPANS), min_size=1, max_size=4), st.integers(0, 300), st.booleans())
def test_excerpt_never_exceeds_the_room_or_the_wanted_lines(
    files: list[tuple[list[str], list[tuple[int, int]]]], room: int, numbered: bool
) -> None:
    texts = {f"{at}.py": "\n".join([*lines, "end"]) for at, (lines, _) in enumerate(files)}
    places = {f"{at}.py": merge_intervals(spans, len(lines) + 1) for at, (lines, spans) in enumerate(files)}
    cut = excerpt(texts, places, room, numbered)
    taken = 0
    for path, spans in cut.places.items():
        lines = texts[path].splitlines()
        seen = {number for first, last in spans or [(1, len(lines))] for number in range(first, last + 1)}
        wanted = {number for first, last in places[path] or [(1, len(lines))] for number in range(first, last + 1)}
        assert seen <= wanted
        taken += sum(len(f"{number}|" * numbered + lines[number - 1]) + 1 for number in seen)
    assert taken <= room
    assert ("left out are:" in cut.text) == (cut.places != places)
