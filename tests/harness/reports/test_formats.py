"""What holds for every report format."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.domain import Status
from assay.harness.errors import UserError
from assay.harness.reports import FORMATS, find

PIECES = st.sampled_from(
    [
        "=== short test summary info ===\n",
        "PASSED ",
        "FAILED a.py::t[",
        " - ",
        "]",
        "\n",
        "test_x (a.B)",
        " ... ",
        "ok",
        "FAIL: ",
        "<testcase name='a'>",
        "<testsuite>",
        "</testsuite>",
        "\x1b[31m",
        ">>>>> Start Test Output\n",
    ]
)
LOGS = st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=30).map("".join)


@pytest.mark.parametrize("name", FORMATS)
def test_module_carries_the_name_it_is_listed_under(name: str) -> None:
    assert name == FORMATS[name].NAME
    assert FORMATS[name].__name__.endswith(f".{name}")  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", FORMATS)
@given(text=LOGS)
def test_arbitrary_text_never_raises_and_never_makes_a_missing_test(name: str, text: str) -> None:
    assert Status.MISSING not in FORMATS[name].parse(text).values()


@pytest.mark.parametrize("name", FORMATS)
def test_no_tests_in_no_text(name: str) -> None:
    assert FORMATS[name].parse("") == {}
    assert FORMATS[name].parse("bash: line 1: python: command not found\n") == {}


def test_unknown_format_names_the_known_ones() -> None:
    with pytest.raises(UserError, match=r"unknown report format 'tap'.*junit_xml"):
        find("tap")
