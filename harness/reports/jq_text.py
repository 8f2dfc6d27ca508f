"""What jq's tests print: automake's lines for the scripts, and ``Test #N`` of jq's own runner for their parts.

The parts are named by number and program, since each file of parts starts to count anew.
"""

import re
from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports import automake_text
from assay.harness.reports.base import join_id, plain_lines, worst

NAME = "jq_text"

_PART = re.compile(r"(Test #\d+: .*) at line number \d+$")
_END = re.compile(r"\d+ of \d+ tests passed")
_PROBLEM = "*** "


def parse(text: str) -> dict[str, Status]:
    """Return script or part to status; a part has passed when the next one starts without a complaint in between."""
    lines = plain_lines(text)
    return worst((*automake_text.told(lines), *_parts(lines)))


def _parts(lines: list[str]) -> Iterator[tuple[str, Status]]:
    running, status = "", Status.PASSED
    for line in lines:
        match = _PART.match(line)
        if match or _END.match(line):
            if running:
                yield join_id(running), status
            running, status = match[1] if match else "", Status.PASSED
        elif line.startswith(_PROBLEM):
            status = Status.FAILED
    if running:
        yield join_id(running), Status.ERROR
