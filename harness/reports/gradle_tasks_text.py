"""Log of Gradle's tests and tasks, for data sets whose labels name both: ``lib:compileJava``."""

import re
from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports import gradle_text
from assay.harness.reports.base import Result, join_id, line_parser

NAME = "gradle_tasks_text"

_TASK = re.compile(r"> Task :(\S+)(?: (UP-TO-DATE|FROM-CACHE|NO-SOURCE|SKIPPED|FAILED))?$")
_STATUSES = {"FAILED": Status.FAILED, "NO-SOURCE": Status.SKIPPED, "SKIPPED": Status.SKIPPED}


@line_parser
def parse(lines: list[str]) -> Iterator[Result]:
    """Yield results by ``Class::test``, or a task's path without the leading colon."""
    yield from gradle_text.results(lines)
    for match in filter(None, map(_TASK.match, lines)):
        yield join_id(match[1]), _STATUSES.get(match[2] or "", Status.PASSED)
