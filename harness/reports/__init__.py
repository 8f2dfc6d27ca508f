"""Test reports: one module per format, never per repository.

A new format is one module that satisfies ``base.ReportFormat`` and one line in ``FORMATS``.
"""

from collections.abc import Mapping

from assay.harness.domain import TestPlan, TestReport
from assay.harness.errors import UserError
from assay.harness.reports import junit_xml, pytest_text, status_json, sympy_text, unittest_text
from assay.harness.reports.base import ReportFormat
from assay.harness.reports.lookup import lookup, names_a_test
from assay.harness.reports.read import combine, merge, read_log

__all__ = ["FORMATS", "ReportFormat", "find", "lookup", "names_a_test", "read", "read_log"]

FORMATS: dict[str, ReportFormat] = {
    junit_xml.NAME: junit_xml,
    pytest_text.NAME: pytest_text,
    status_json.NAME: status_json,
    sympy_text.NAME: sympy_text,
    unittest_text.NAME: unittest_text,
}


def find(name: str) -> ReportFormat:
    """Return the format of that name.

    Raises:
        UserError: there is none; the message names those that there are.
    """
    try:
        return FORMATS[name]
    except KeyError:
        raise UserError(f"unknown report format {name!r}; known are {', '.join(sorted(FORMATS))}") from None


def read(plan: TestPlan, files: Mapping[str, bytes], output: str) -> TestReport:
    """Read the results of one run.

    Args:
        plan: names the formats of report and log, and how tests are identified.
        files: report files by relative name, as they came out of the box; may be empty.
        output: what the test command printed.

    Returns:
        The tests of the report files; of the log when the files tell of none; or an empty report.

    Raises:
        UserError: the plan names an unknown format.
    """
    texts = [content.decode("utf-8", errors="replace") for content in files.values()]
    structured = merge(find(plan.report_format), texts, plan.test_id) if plan.report_format else {}
    return combine(plan, structured, read_log(find(plan.log_format), output, plan.test_id))
