"""Documents of any runner but pytest: which are read at all, and as what; whole ones are goldens of junit_xml."""

import pytest

from assay.harness.domain import Status
from assay.harness.reports.junit_xml import parse

CASE = '<testcase classname="t" name="{}">{}</testcase>'


def document(case: str, root: str = "") -> str:
    suites = f'<testsuite name="outer"><testsuite name="inner">{case}</testsuite></testsuite>'
    return f'<testsuites name="{root}">{suites}</testsuites>'


@pytest.mark.parametrize(
    "lead", ["", "\ufeff", "<?xml version='1.0'?>\n", "<!-- <testsuite> -->\n", "<?a ?> <!-- b -->"]
)
def test_document_type_is_refused(lead: str) -> None:
    body = "<testsuite>" + CASE.format("&e;", "") + "</testsuite>"
    assert parse(f'{lead}<!DOCTYPE testsuite [<!ENTITY e "x">]>{body}') == {}


def test_document_type_in_captured_output_is_text() -> None:
    inner = "<system-out><![CDATA[<!DOCTYPE html>]]></system-out>"
    assert parse(document(CASE.format("x", inner))) == {"t::x": Status.PASSED}


def test_cut_document_has_no_tests() -> None:
    whole = document(CASE.format("x", "") + CASE.format("y", ""))
    assert parse(whole[: whole.rindex("<testcase")]) == {}


@pytest.mark.parametrize(
    ("root", "case", "test"),
    [
        ("", '<testcase classname="com.x.FooTest" name="adds"/>', "com.x.FooTest::adds"),
        ("", '<testcase classname="adds" name="adds"/>', "adds"),
        ("", '<testcase classname="test" name="adds" file="/testbed/a.test.mjs"/>', "a.test.mjs::outer::inner::adds"),
        ("vitest tests", '<testcase classname="a.test.ts" name="cart &gt; adds"/>', "a.test.ts::cart::adds"),
        ("vitest tests", '<testcase classname="a.test.ts" name="a.test.ts"/>', "a.test.ts"),
        ("Mocha Tests", '<testcase classname="adds" name="Cart adds"/>', "Cart::adds"),
        ("nextest-run", '<testcase classname="crate" name="cart::adds"/>', "cart::adds"),
    ],
)
def test_id_of_each_runner(root: str, case: str, test: str) -> None:
    assert parse(document(case, root)) == {test: Status.PASSED}


@pytest.mark.parametrize(
    ("inner", "status"),
    [
        ("", Status.PASSED),
        ("<skipped/>", Status.SKIPPED),
        ("<warning/>", Status.SKIPPED),
        ("<failure/>", Status.FAILED),
        ("<skipped/><failure/><error/>", Status.ERROR),
        ("<flakyFailure/><system-out>FAILED</system-out>", Status.PASSED),
    ],
)
def test_status_is_that_of_the_worst_child(inner: str, status: Status) -> None:
    assert parse(document(f'<testcase classname="FooTest" name="adds">{inner}</testcase>')) == {"FooTest::adds": status}
