"""Log of ``make check`` with automake's test drivers: ``PASS: name`` and so on.

The drivers send the output of tests to files. Under a runner that does not, a test can forge such a line.
"""

import re
from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports.base import Result, join_id
from assay.harness.reports.sums import Sums, find_lines, make_result, read_lines

NAME = "automake_text"

_STATUSES = {
    "PASS": Status.PASSED,
    "FAIL": Status.FAILED,
    "SKIP": Status.SKIPPED,
    "XFAIL": Status.XFAIL,
    "XPASS": Status.FAILED,  # automake counts it so
    "ERROR": Status.ERROR,
}
_LINE = re.compile(rf"(?<! ) *({'|'.join(_STATUSES)}): (\S.*)$")
_EXIT = re.compile(r" \(exit status: \d+\)$")


def results(lines: list[str]) -> Iterator[Result]:
    for match in find_lines(_LINE, (line for line in lines if not line.startswith("# ")), ": "):
        yield make_result(match, join_id(_EXIT.sub("", match[2])), _STATUSES[match[1]])


parse, find_gap = read_lines(
    results, Sums(passed=r"^# PASS: +(\d+)$", failed=r"^# (?:FAIL|XPASS|ERROR): +(\d+)$", total=r"^# TOTAL: +(\d+)$")
)
