"""What ctest prints: one line per test when it starts and one when it has ended.

Output of tests is shown behind a number (``-V``) or after the test's line; the result of a test that is not running at
that moment was printed by another one and does not count.
"""

import re
from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports.base import join_id, plain_lines, worst

NAME = "ctest_text"

_START = re.compile(r" +Start +(\d+): (\S.*)$")
_END = re.compile(r" *\d+/\d+ +Test +#(\d+): (\S.*) sec$")
_REASON = "***"


def parse(text: str) -> dict[str, Status]:
    """Return test name to status; a test that starts and never ends is an error."""
    return worst(_told(plain_lines(text)))


def _told(lines: list[str]) -> Iterator[tuple[str, Status]]:
    running: dict[str, str] = {}
    for line in lines:
        if match := _START.match(line):
            running[match[1]] = match[2]
        elif (match := _END.match(line)) and (told := _told_of(running.get(match[1], ""), match[2])):
            yield join_id(running.pop(match[1])), _status(told)
    yield from ((join_id(name), Status.ERROR) for name in running.values())


def _told_of(name: str, rest: str) -> str:
    """Return the result in ``name ......***Failed   0.01``; empty if the line is not of the test of that name."""
    if not name or not rest.startswith(f"{name} .."):
        return ""
    result = rest[len(name) :].lstrip(" .")
    return result.partition(_REASON)[2] or result


def _status(told: str) -> Status:
    if told.startswith("Passed"):
        return Status.PASSED
    if told.startswith(("Skipped", "Not Run (Disabled)")):
        return Status.SKIPPED
    return Status.FAILED if told.startswith("Failed") else Status.ERROR
