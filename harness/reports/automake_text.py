"""What ``make check`` prints with automake's test drivers: ``PASS: name`` and so on.

The output of tests goes into files; a runner that does not redirect it lets a test print such a line itself.
"""

import re
from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports.base import join_id, plain_lines, worst

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


def parse(text: str) -> dict[str, Status]:
    """Return test name to status."""
    return worst(told(plain_lines(text)))


def told(lines: list[str]) -> Iterator[tuple[str, Status]]:
    """Yield the tests that lines tell of."""
    for match in filter(None, map(_LINE.match, lines)):
        yield join_id(_EXIT.sub("", match[2])), _STATUSES[match[1]]
