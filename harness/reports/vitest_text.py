"""What vitest's ``verbose`` reporter prints: ``✓ file > suite > title 2ms``, flat.

What tests print stands under a heading ``stdout | test`` up to an empty line and is passed over; a test that prints an
empty line first can forge a line after it.
"""

import re
from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports.base import join_id, plain_lines, worst

NAME = "vitest_text"

_CROSS = "\N{MULTIPLICATION SIGN}"
_STATUSES = {"✓": Status.PASSED, "✔": Status.PASSED, "√": Status.PASSED, _CROSS: Status.FAILED, "✗": Status.FAILED}
_RESULT = re.compile(
    rf" +([✓✔√{_CROSS}✗↓□]) (?:\|[^|]+\| )?(\S.*? > .*?)(?: \(retry x\d+\))?(?: \d+(?:\.\d+)? ?m?s| \[skipped\])?$"
)
_PROJECT = re.compile(r"\|[^|]+\| ")
_FAIL = " FAIL  "
_OUTPUT = re.compile(r"std(?:out|err) \| ")


def parse(text: str) -> dict[str, Status]:
    """Return ``file::suite::title`` to status; a file that could not be run is an error."""
    return worst(_told(plain_lines(text)))


def _told(lines: list[str]) -> Iterator[tuple[str, Status]]:
    output = False
    for line in lines:
        if _OUTPUT.match(line):
            output = True
        elif not line:
            output = False
        elif not output and (match := _RESULT.match(line)):
            yield join_id(*match[2].split(" > ")), _STATUSES.get(match[1], Status.SKIPPED)
        elif line.startswith(_FAIL):
            yield _failure(line.removeprefix(_FAIL).strip())


def _failure(told: str) -> tuple[str, Status]:
    """Read what stands in the list of failures: a test, or a file as ``file [ file ]``."""
    file = told[: (len(told) - len(" [  ]")) // 2]
    if told == f"{file} [ {file} ]":
        return join_id(file), Status.ERROR
    return join_id(*_PROJECT.sub("", told, count=1).split(" > ")), Status.FAILED
