"""Log of MicroPython's ``run-tests.py``: ``pass  basics/fun1.py``. It compares the output of tests, never prints it."""

import re
from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports.base import Result, join_id
from assay.harness.reports.sums import Sums, find_lines, make_result, read_lines

NAME = "micropython_text"

_STATUSES = {"pass": Status.PASSED, "FAIL": Status.FAILED, "skip": Status.SKIPPED, "lrge": Status.SKIPPED}
_LINE = re.compile(r"(pass|FAIL|skip|lrge)  (\S+)")


def results(lines: list[str]) -> Iterator[Result]:
    for match in find_lines(_LINE, lines, "  "):
        yield make_result(match, join_id(match[2]), _STATUSES[match[1]])


parse, find_gap = read_lines(
    results, Sums(passed=r"(\d+) tests passed$", failed=r"(\d+) tests failed: ", total=r"(\d+) tests performed ")
)
