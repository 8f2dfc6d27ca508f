"""Log of MicroPython's ``run-tests.py``: ``pass  basics/fun1.py``. It compares the output of tests, never prints it."""

import re
from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports.base import Result, join_id, line_parser

NAME = "micropython_text"

_STATUSES = {"pass": Status.PASSED, "FAIL": Status.FAILED, "skip": Status.SKIPPED, "lrge": Status.SKIPPED}
_LINE = re.compile(r"(pass|FAIL|skip|lrge)  (\S+)")


@line_parser
def parse(lines: list[str]) -> Iterator[Result]:
    for match in filter(None, map(_LINE.match, lines)):
        yield join_id(match[2]), _STATUSES[match[1]]
