import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.domain import Status
from assay.harness.reports.base import SEVERITY, join_id, plain_lines, restore_separators, split_id, worst

RESULTS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(SEVERITY)))


@given(RESULTS)
def test_worst_keeps_the_most_severe_status_of_each_test(results: list[tuple[str, Status]]) -> None:
    expected = {name: max((each for test, each in results if test == name), key=SEVERITY.index) for name, _ in results}
    assert worst(results) == expected


def test_every_status_has_a_severity() -> None:
    assert set(SEVERITY) == set(Status)


def test_separator_inside_a_part_does_not_split_the_id() -> None:
    assert join_id("a.py", "", "b::c") != "a.py::b::c"
    assert split_id(join_id("a.py", "", "b::c")) == ("a.py", "b::c")
    assert restore_separators(join_id("a.py", "b::c")) == "a.py::b::c"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a \t\nb\r\n", ["a", "b", ""]),
        ("\x1b[32mok\x1b[0m 1", ["ok 1"]),
        ("a\x1cb\u2028c", ["a\x1cb\u2028c"]),
        ("x" * 20_000, ["x" * 10_000]),
    ],
)
def test_plain_lines_of_a_log(text: str, lines: list[str]) -> None:
    assert plain_lines(text) == lines


def test_millions_of_lines_are_not_read() -> None:
    assert plain_lines("\n" * 3_000_001) == []
