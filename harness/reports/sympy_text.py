"""Log of SymPy's own runner with ``--verbose``: one line per function under a heading per file.

Lines name bare functions, so functions of the same name in two files share an entry.
"""

import re
from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports.base import Result
from assay.harness.reports.sums import Sums, find_glued, make_result, read_lines

NAME = "sympy_text"

_STATUSES = {
    "ok": Status.PASSED,
    "F": Status.FAILED,
    "E": Status.ERROR,
    "f": Status.XFAIL,
    "X": Status.PASSED,  # passes although marked as failing
    "s": Status.SKIPPED,
    "w": Status.SKIPPED,  # too slow to run
    "K": Status.ERROR,
    "T": Status.ERROR,
}
_START = re.compile(r"(test_\w+)(?: |$)")
_RESULT = re.compile(rf"(?:.* )?({'|'.join(_STATUSES)})(?: +\[(?:OK|FAIL)\])?$")
_HEADING = re.compile(r"_+ \S+\.py:(test_\w+) _+$")


def results(lines: list[str]) -> Iterator[Result]:
    running, started = "", None
    for line in lines:
        if heading := _HEADING.match(line):
            # The heading of a traceback does not distinguish F from E; both are failures.
            yield heading[1], Status.FAILED
            running = ""
        elif start := find_glued(_START, line, "test_"):
            running, started = start[1], start
        if running and started and (result := _RESULT.match(line)):
            yield make_result(started, running, _STATUSES[result[1]])
            running = ""


parse, find_gap = read_lines(
    results,
    Sums(
        passed=r"tests finished: (\d+) passed", failed=r"tests finished: (?:.*?(\d+) failed)?(?:.*?(\d+) exceptions)?"
    ),
)
