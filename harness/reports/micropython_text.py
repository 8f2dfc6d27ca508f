"""What MicroPython's ``run-tests.py`` prints: ``pass  basics/fun1.py``. It compares output and never shows it."""

import re
from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports.base import join_id, plain_lines, worst

NAME = "micropython_text"

_STATUSES = {"pass": Status.PASSED, "FAIL": Status.FAILED, "skip": Status.SKIPPED, "lrge": Status.SKIPPED}
_LINE = re.compile(r"(pass|FAIL|skip|lrge)  (\S+)")


def parse(text: str) -> dict[str, Status]:
    """Return test script to status."""
    return worst(_told(plain_lines(text)))


def _told(lines: list[str]) -> Iterator[tuple[str, Status]]:
    for match in filter(None, map(_LINE.match, lines)):
        yield join_id(match[2]), _STATUSES[match[1]]
