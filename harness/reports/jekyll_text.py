"""Log of Jekyll's tests: minitest's verbose lines, and one line per Cucumber scenario with a mark per step.

A step that prints breaks that line, and its scenario is missing; a step can also forge a whole line.
"""

import re
from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports import minitest_text
from assay.harness.reports.base import Result, join_id
from assay.harness.reports.sums import Sums, find_lines, make_result, read_lines

NAME = "jekyll_text"

_SCENARIO = re.compile(r"(?<!\S)(\S+\.feature:\d+ .*\S) +([.FUPS-]+)(?:  \([\d.]+s\))?$")


def results(lines: list[str]) -> Iterator[Result]:
    """Yield results by ``Class::test``, or place and name of a scenario."""
    yield from minitest_text.results(lines)
    for match in find_lines(_SCENARIO, lines, ".feature:"):
        yield make_result(match, join_id(match[1]), _status(match[2]))


def _status(marks: str) -> Status:
    """Return the status of a scenario: ``.`` passed, ``F`` failed, anything else was skipped."""
    if "F" in marks:
        return Status.FAILED
    return Status.PASSED if set(marks) == {"."} else Status.SKIPPED


parse, find_gap = read_lines(
    results,
    Sums(failed=r"\d+ assertions, (\d+) failures, (\d+) errors|\d+ scenarios? \((\d+) failed"),
    begins_with_name=True,
)
