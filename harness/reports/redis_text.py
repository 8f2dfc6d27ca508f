"""Log of the Tcl runner of Redis and Valkey: ``[ok]: name (26 ms)`` and ``[err]: name in file``.

The runner prints no output of tests, apart from their messages after a failure.
"""

import re
from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports.base import Result, join_id
from assay.harness.reports.sums import Sums, find_lines, make_result, read_lines

NAME = "redis_text"

_STATUSES = {
    "ok": Status.PASSED,
    "err": Status.FAILED,
    "exception": Status.ERROR,
    "timeout": Status.ERROR,
    "skip": Status.SKIPPED,
    "ignore": Status.SKIPPED,
}
_LINE = re.compile(rf"\[({'|'.join(_STATUSES)})\]: (\S.*)$")
_TIME = re.compile(r" \(\d+ (?:ms|seconds)\)$")
_FILE = re.compile(r" in \S+\.tcl$")


def results(lines: list[str]) -> Iterator[Result]:
    """Yield results by test name, without timings and files."""
    for match in find_lines(_LINE, lines, "]: "):
        yield make_result(match, join_id(_FILE.sub("", _TIME.sub("", match[2]))), _STATUSES[match[1]])


parse, find_gap = read_lines(results, Sums())
