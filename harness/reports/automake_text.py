"""Log of ``make check`` with automake's test drivers: ``PASS: name`` and so on.

The drivers send the output of tests to files. Under a runner that does not, a test can forge such a line.
"""

import re
from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports.base import Result, join_id, line_parser

NAME = "automake_text"

_STATUSES = {
    "PASS": Status.PASSED,
    "FAIL": Status.FAILED,
    "SKIP": Status.SKIPPED,
    "XFAIL": Status.XFAIL,
    "XPASS": Status.FAILED,  # automake counts it so
    "ERROR": Status.ERROR,
}
_LINE = re.compile(rf" *({'|'.join(_STATUSES)}): (\S.*)$")
_EXIT = re.compile(r" \(exit status: \d+\)$")


def results(lines: list[str]) -> Iterator[Result]:
    for match in filter(None, map(_LINE.match, lines)):
        yield join_id(_EXIT.sub("", match[2])), _STATUSES[match[1]]


parse = line_parser(results)
