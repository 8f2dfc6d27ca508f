"""Log of Gradle's tests and tasks, for data sets whose labels name both: ``lib:compileJava``."""

import re
from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports import gradle_text
from assay.harness.reports.base import Result, join_id
from assay.harness.reports.sums import Sums, find_lines, make_result, read_lines

NAME = "gradle_tasks_text"

_TASK = re.compile(r"> Task :(\S+)(?: (UP-TO-DATE|FROM-CACHE|NO-SOURCE|SKIPPED|FAILED))?$")
_STATUSES = {"FAILED": Status.FAILED, "NO-SOURCE": Status.SKIPPED, "SKIPPED": Status.SKIPPED}


def results(lines: list[str]) -> Iterator[Result]:
    """Yield results by ``Class::test``, or a task's path without the leading colon."""
    yield from gradle_text.results(lines)
    for match in find_lines(_TASK, lines, "> Task "):
        yield make_result(match, join_id(match[1]), _STATUSES.get(match[2] or "", Status.PASSED))


parse, find_gap = read_lines(results, Sums(), begins_with_name=True)[0], gradle_text.find_gap
