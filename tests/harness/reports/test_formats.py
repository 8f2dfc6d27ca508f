import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.domain import Status
from assay.harness.errors import UserError
from assay.harness.reports import FORMATS, find, find_gap
from assay.harness.reports.base import SEVERITY, restore_separators
from assay.harness.reports.ids import rename
from assay.harness.reports.results import full

GOLDENS = Path(__file__).parent / "goldens"
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
SHREDS = {
    folder.name: [line for path in sorted(folder.iterdir()) for line in path.read_text("utf-8").splitlines(True)]
    for folder in sorted(GOLDENS.iterdir())
}
"""Lines of every format's goldens, to be thrown together."""


@pytest.mark.parametrize("name", FORMATS)
def test_module_carries_the_name_it_is_listed_under(name: str) -> None:
    assert name == FORMATS[name].NAME
    assert FORMATS[name].__name__.endswith(f".{name}")  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", FORMATS)
@given(text=LOGS)
def test_arbitrary_text_never_raises_and_never_makes_a_missing_test(name: str, text: str) -> None:
    assert Status.MISSING not in FORMATS[name].parse(text).values()


@pytest.mark.parametrize("name", FORMATS)
def test_empty_text_has_no_tests(name: str) -> None:
    assert FORMATS[name].parse("") == {}
    assert FORMATS[name].parse("bash: line 1: python: command not found\n") == {}


def test_unknown_format_names_the_known_ones() -> None:
    with pytest.raises(UserError, match=r"unknown report format 'nose'.*junit_xml"):
        find("nose")


@pytest.mark.parametrize("name", SHREDS)
@given(data=st.data())
def test_shreds_of_reports_never_raise_and_keep_the_worst_status(name: str, data: st.DataObject) -> None:
    halves = st.lists(st.one_of(st.sampled_from(SHREDS[name]), st.text(max_size=8)), max_size=20).map("".join)
    one, two = data.draw(halves), data.draw(halves)
    read = [FORMATS[name].parse(one), FORMATS[name].parse(two)]
    find_gap(name, one + re.sub(r"\d+", "9" * 5_000, two))
    merged = rename(full(FORMATS[name], [one, two]), "node")
    assert Status.MISSING not in merged.values()
    for tests in read:
        for test, status in tests.items():
            assert SEVERITY.index(merged[restore_separators(test)]) >= SEVERITY.index(status)


@pytest.mark.parametrize("name", FORMATS)
def test_any_long_line_is_read_fast(name: str) -> None:
    """Lines that start or end like a result and go on for ever are what makes a careless pattern slow."""
    lines = SHREDS.get(name, ['{"a": "passed"}'])
    starts = sorted({line[:22].rstrip("\n") for line in lines})
    hostile = [start + rest * (4_900 // len(rest)) for start in starts[:30] for rest in (" ", ".", "a > ", "[ ", "{(")]
    ends = sorted({line[-60:].rstrip("\n") for line in lines})
    hostile += [rest * (4_900 // len(rest)) + end for end in ends[:30] for rest in (" ", "9", "a.", "x > ", "test ")]
    began = time.process_time()
    FORMATS[name].parse("\n".join([*lines, *hostile]))
    find_gap(name, "\n".join(hostile))
    assert time.process_time() - began < 5


def test_tests_of_unittest_with_one_docstring_share_the_worse_result() -> None:
    text = "test_a (a.B)\nSame words ... FAIL\ntest_b (a.B)\nSame words ... ok\n"
    assert FORMATS["unittest_text"].parse(text)["Same words"] is Status.FAILED


def test_doctest_has_a_document_for_each_program_and_all_must_be_complete() -> None:
    def write(case: str, ends: str = "</doctest>") -> str:
        return f'<doctest binary="x">\n<TestSuite><TestCase name="{case}"/></TestSuite>\n{ends}\n'

    read = find("doctest_xml").parse
    assert read(f"{write('a')}a line\n{write('b')}") == {"a": Status.PASSED, "b": Status.PASSED}
    assert read(write("a") + write("b", ends="Segmentation fault")) == {}
    assert read(write("a", ends=write("forged"))) == {}
