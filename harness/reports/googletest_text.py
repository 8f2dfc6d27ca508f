"""Log of a GoogleTest program, also behind the line numbers of ``ctest -V``.

A result counts only for the running test, so a test can only forge its own, and the real one follows.
"""

import re
from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports.base import Result, join_id
from assay.harness.reports.sums import Sums, make_result, read_lines

NAME = "googletest_text"

_STATUSES = {"OK": Status.PASSED, "FAILED": Status.FAILED, "SKIPPED": Status.SKIPPED}
_MARK = re.compile(
    r"\[ +(RUN|OK|FAILED|SKIPPED|DISABLED) +\] ([\w/]+)\.([\w/<>, ]+?)(?:, where .*?)?(?: \(\d+ ms\)(.*))?$"
)
_PREFIX = re.compile(r"\d+: ")


def results(lines: list[str]) -> Iterator[Result]:
    """Yield results by ``Suite::Test``; a test that starts and never ends is an error."""
    running: dict[str, str] = {}
    for line in lines:
        prefix, match = _mark(line)
        if match is None:
            continue
        word, test = match[1], join_id(match[2], match[3])
        if word == "RUN":
            if left := running.get(prefix):
                yield left, Status.ERROR
            running[prefix] = test
        elif word == "DISABLED":
            yield test, Status.SKIPPED
        elif running.get(prefix) == test and match[4] is not None:
            del running[prefix]
            yield make_result(bool(match[4]), test, _STATUSES[word])
        elif word == "FAILED":
            yield test, Status.FAILED
    yield from ((test, Status.ERROR) for test in running.values())


def _mark(line: str) -> tuple[str, re.Match[str] | None]:
    """Return ctest's prefix and the mark of a line; output without a final newline may precede the mark."""
    start = line.rfind("[ ")
    if start < 0:
        return "", None
    prefix = _PREFIX.match(line)
    return prefix[0] if prefix else "", _MARK.match(line, start)


parse, find_gap = read_lines(
    results,
    Sums(
        passed=r"\[  PASSED  \] (\d+) tests?\.",
        failed=r"\[  FAILED  \] (\d+) tests?, listed below",
        opened=r"\[=+\] Running \d+ tests? ",
        closed=r"\[=+\] \d+ tests? .* ran\.",
    ),
)
