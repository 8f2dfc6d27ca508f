"""One report from the report files and the output of a run: files first, the log as fallback and cross-check."""

from collections.abc import Iterable

from assay.harness.domain import PASSING, Channel, Status, TestPlan, TestReport
from assay.harness.reports.base import ReportFormat, worst
from assay.harness.reports.ids import rename
from assay.harness.reports.markers import fenced


def merge(reader: ReportFormat, texts: Iterable[str], test_id: str = "node") -> dict[str, Status]:
    """Parse several texts of one format and name the tests in a style of ``ids.IDS``.

    A test in more than one text keeps its worst status.

    Raises:
        UserError: there is no such style.
    """
    return rename(worst(each for text in texts for each in reader.parse(text).items()), test_id)


def read_log(reader: ReportFormat, text: str, test_id: str = "node") -> dict[str, Status]:
    """Parse a log: the fenced test output, or the whole text if the fenced part names no test."""
    inner = fenced(text)
    return merge(reader, [inner], test_id) or (merge(reader, [text], test_id) if inner != text else {})


def combine(plan: TestPlan, structured: dict[str, Status], logged: dict[str, Status], log_ended: bool) -> TestReport:
    """Return the report of one run from the tests in its report files and in its log.

    Args:
        plan: names the formats.
        structured: tests of the report files.
        logged: tests of the log.
        log_ended: whether the log shows that the suite ran to its end; it may still name no test.
    """
    if structured:
        both = structured.keys() & logged.keys()
        differing = sorted(t for t in both if (structured[t] in PASSING) != (logged[t] in PASSING))
        return TestReport(
            channel=Channel.REPORT,
            format=plan.report_format,
            tests=structured,
            disagreements=tuple(differing),
            suite_ran=True,
        )
    if (logged or log_ended) and not plan.report_path:  # else a patch could choose the log, by breaking the report
        return TestReport(channel=Channel.LOG, format=plan.log_format, tests=logged, suite_ran=log_ended)
    return TestReport()
