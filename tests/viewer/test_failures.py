"""What failed tests said, in the forms of several runners; written by hand after theirs."""

import json

import pytest

from assay.viewer.failures import BLOCK, LONGEST, find_messages

JUNIT = """<testsuites><testsuite name="pytest">
<testcase classname="tests.test_a.TestOne" name="test_add"><failure message="assert 1 == 2"/></testcase>
<testcase classname="tests.test_b.TestTwo" name="test_add"><error message="ImportError: no b"/></testcase>
<testcase classname="tests.test_b.TestTwo" name="test_kept"/>
</testsuite></testsuites>"""


def test_message_of_junit_xml_is_that_of_the_test_of_the_right_class() -> None:
    ends = ("a.py::TestOne::test_add", "b.py::TestTwo::test_add", "b.py::TestTwo::test_kept")
    tests = [f"tests/test_{end}" for end in ends]
    assert find_messages(tests, [JUNIT], "") == {tests[0]: "assert 1 == 2", tests[1]: "ImportError: no b"}


@pytest.mark.parametrize(
    "case",
    [
        {"title": "adds", "fullName": "sum adds", "failureMessages": ["expected 3", "at line 1"]},
        {"title": "adds", "err": {"message": "expected 3", "stack": "expected 3\nat line 1"}},
        {"description": "adds", "exception": {"message": "expected 3\nat line 1"}},
        {"name": "adds", "message": "expected 3\nat line 1"},
    ],
)
def test_message_of_json_is_found_in_the_form_of_every_runner(case: dict[str, object]) -> None:
    report = json.dumps({"testResults": [{"name": "sum.test.js", "assertionResults": [case]}]})
    assert find_messages(["sum.test.js::sum::adds"], [report], "") == {
        "sum.test.js::sum::adds": "expected 3\nat line 1"
    }


UNITTEST = """test_add (calc.tests.Sums) ... FAIL
======================================================================
FAIL: test_add (calc.tests.Sums)
----------------------------------------------------------------------
Traceback (most recent call last):
AssertionError: 1 != 2

======================================================================
FAIL: test_add_more (calc.tests.Sums)
----------------------------------------------------------------------
AssertionError: other
"""
GO = """=== RUN   TestAdd
    sum_test.go:3: got 1, want 2
--- FAIL: TestAdd (0s)
=== RUN   TestAddMore
    other
--- FAIL: TestAddMore (0s)
"""
RUST = "---- sums::adds stdout ----\nassertion failed\n\n---- sums::adds_more stdout ----\nother\n"
PYTEST = """____________ TestSums.test_add ____________

>       assert 1 == 2
E       assert 1 == 2
____________ TestSums.test_other ____________
other
"""


@pytest.mark.parametrize(
    ("output", "test", "said"),
    [
        (UNITTEST, "test_add (calc.tests.Sums)", "Traceback (most recent call last):\nAssertionError: 1 != 2"),
        (GO, "TestAdd", "sum_test.go:3: got 1, want 2"),
        (RUST, "sums::adds", "assertion failed"),
        (PYTEST, "tests/test_a.py::TestSums::test_add", ">       assert 1 == 2\nE       assert 1 == 2"),
        ("  1) sum adds:\n     Error: expected 3\n", "sum adds", "Error: expected 3"),
        ("not ok 1 - adds\n# expected 3\n", "adds", "# expected 3"),
    ],
)
def test_message_is_read_from_the_output_where_no_report_has_one(output: str, test: str, said: str) -> None:
    assert find_messages([test], ["no report"], output) == {test: said}


def test_long_block_of_output_is_cut_to_its_errors() -> None:
    output = "FAIL: test_add\n" + "  frame\n" * (BLOCK + 1) + "AssertionError: 1 != 2\n"
    assert find_messages(["test_add"], [], output) == {"test_add": "AssertionError: 1 != 2"}


@pytest.mark.parametrize("report", ["{", "[" * 100_000, "<testcase", "<!DOCTYPE x><testcase/>", '{"message": 3}', "\0"])
def test_report_that_cannot_be_read_says_nothing(report: str) -> None:
    assert find_messages(["test_add"], [report], "") == {}


def test_message_is_no_longer_than_a_page_takes() -> None:
    report = json.dumps({"name": "test_add", "message": "x" * 100_000})
    (said,) = find_messages(["test_add"], [report], "").values()
    assert len(said) <= LONGEST + 100
