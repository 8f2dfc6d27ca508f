"""Log of ctest: one line when a test starts and one when it has ended.

Output of tests follows a number (``-V``) or the test's line. A result of a test that is not running was printed by
another test and does not count.
"""

import re
from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports.base import Result, join_id
from assay.harness.reports.sums import Sums, find_glued, make_result, read_lines

NAME = "ctest_text"

_START = re.compile(r"(?<! ) +Start +(\d+): (\S.*)$")
_END = re.compile(r"(?<![ \d]) *\d+/\d+ +Test +#(\d+): (\S.*) sec$")
_OUTPUT = re.compile(r"\d+: ")
_REASON = "***"


def results(lines: list[str]) -> Iterator[Result]:
    """Yield results by test name; a test that starts and never ends is an error."""
    running: dict[str, str] = {}
    for line in (each for each in lines if not _OUTPUT.match(each)):
        if match := find_glued(_START, line, " Start "):
            running[match[1]] = match[2]
        elif (match := find_glued(_END, line, "Test ")) and (ended := _ending(running.get(match[1], ""), match[2])):
            yield make_result(match, join_id(running.pop(match[1])), _status(ended))
    yield from ((join_id(name), Status.ERROR) for name in running.values())


def _ending(name: str, rest: str) -> str:
    """Return the result in ``name ......***Failed   0.01``; empty if the line is of another test."""
    if not name or not rest.startswith(f"{name} .."):
        return ""
    result = rest[len(name) :].lstrip(" .")
    return result.partition(_REASON)[2] or result


def _status(ended: str) -> Status:
    if ended.startswith("Passed"):
        return Status.PASSED
    if ended.startswith(("Skipped", "Not Run (Disabled)")):
        return Status.SKIPPED
    return Status.FAILED if ended.startswith("Failed") else Status.ERROR


parse, find_gap = read_lines(
    results, Sums(failed=r"tests passed, (\d+) tests failed out of \d+$", total=r"tests failed out of (\d+)$")
)
