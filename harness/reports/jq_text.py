"""Log of jq's tests: automake's lines for the scripts, and ``Test #N`` of jq's own runner for their parts.

Parts are named by number and program, because each file of parts counts from 1.
"""

import re
from collections.abc import Iterable, Iterator

from assay.harness.domain import Status
from assay.harness.reports import automake_text
from assay.harness.reports.base import Result, join_id
from assay.harness.reports.sums import Sums, find_glued, read_lines

NAME = "jq_text"

_PART = re.compile(r"(Test #\d+: .*) at line number \d+$")
_END = re.compile(r"\d+ of \d+ tests passed")
_PROBLEM = "*** "


def results(lines: list[str]) -> Iterable[Result]:
    """Yield results by script or part; a part has passed if the next one starts without an error in between."""
    return (*automake_text.results(lines), *_parts(lines))


def _parts(lines: list[str]) -> Iterator[Result]:
    running, status = "", Status.PASSED
    for line in lines:
        match = find_glued(_PART, line, "Test #")
        if match or find_glued(_END, line, " tests passed"):
            if running:
                yield join_id(running), status
            running, status = match[1] if match else "", Status.PASSED
        elif _PROBLEM in line:
            status = Status.FAILED
    if running:
        yield join_id(running), Status.ERROR


parse, find_gap = read_lines(results, Sums(passed=r"(\d+) of \d+ tests passed"))
