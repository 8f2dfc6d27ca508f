"""Log of Gradle with passed and failed tests shown: ``com.x.FooTest > adds PASSED``.

Gradle indents the standard streams of tests, so only lines without indentation count. The result may follow the name a
few lines later if another process prints in between.
"""

import re
from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports.base import Result, join_id, line_parser

NAME = "gradle_text"

_STATUSES = {"PASSED": Status.PASSED, "FAILED": Status.FAILED, "SKIPPED": Status.SKIPPED}
_GLUED = r"(?:(?:Picked up|WARNING:) .*)?"  # what a virtual machine says as it starts, without a line of its own
_LINE = re.compile(rf"([^\s>][^>]*? > .*?)(?: (PASSED|FAILED|SKIPPED){_GLUED})?(?: \([\d.]+m?s\))?$")
_TASK_ARROW = " > "


def results(lines: list[str]) -> Iterator[Result]:
    """Yield results by ``Class::test``."""
    waiting = ""
    for line in lines:
        if waiting and line in _STATUSES:
            yield _id(waiting), _STATUSES[line]
            waiting = ""
        elif _TASK_ARROW in line and (match := _LINE.match(line)):
            if match[2]:
                yield _id(match[1]), _STATUSES[match[2]]
            waiting = "" if match[2] else match[1]


parse = line_parser(results)


def _id(printed: str) -> str:
    return join_id(*printed.split(_TASK_ARROW))
