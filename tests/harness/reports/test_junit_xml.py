"""Documents of any runner: which are read at all."""

import pytest

from assay.harness.domain import Status
from assay.harness.reports.junit_xml import parse

CASE = '<testcase classname="t" name="{}">{}</testcase>'


def suite(*cases: str) -> str:
    return f"<?xml version='1.0'?><testsuites><testsuite name='pytest'>{''.join(cases)}</testsuite></testsuites>"


@pytest.mark.parametrize(
    "lead", ["", "\ufeff", "<?xml version='1.0'?>\n", "<!-- <testsuite> -->\n", "<?a ?> <!-- b -->"]
)
def test_document_type_is_refused(lead: str) -> None:
    body = "<testsuite>" + CASE.format("&e;", "") + "</testsuite>"
    assert parse(f'{lead}<!DOCTYPE testsuite [<!ENTITY e "x">]>{body}') == {}


def test_document_type_in_captured_output_is_text() -> None:
    inner = "<system-out><![CDATA[<!DOCTYPE html>]]></system-out>"
    assert parse(suite(CASE.format("x", inner))) == {"t.py::x": Status.PASSED}


def test_cut_document_has_no_tests() -> None:
    whole = suite(CASE.format("x", ""), CASE.format("y", ""))
    assert parse(whole[: whole.rindex("<testcase")]) == {}
