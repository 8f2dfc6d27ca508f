"""What Gradle prints of tests when its test log shows passed and failed ones: ``com.x.FooTest > adds PASSED``.

Standard streams of tests, where Gradle is told to show them, are indented; a line is read only if it starts at the left
edge. The result may come a few lines after the name when another process prints in between.
"""

import re
from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports.base import join_id, plain_lines, worst

NAME = "gradle_text"

_STATUSES = {"PASSED": Status.PASSED, "FAILED": Status.FAILED, "SKIPPED": Status.SKIPPED}
_LINE = re.compile(r"([^\s>][^>]*? > .*?)(?: (PASSED|FAILED|SKIPPED))?(?: \([\d.]+m?s\))?$")
_TASK_ARROW = " > "


def parse(text: str) -> dict[str, Status]:
    """Return ``Class::test`` to status."""
    return worst(told(plain_lines(text)))


def told(lines: list[str]) -> Iterator[tuple[str, Status]]:
    """Yield the tests that lines tell of."""
    waiting = ""
    for line in lines:
        if waiting and line in _STATUSES:
            yield _id(waiting), _STATUSES[line]
            waiting = ""
        elif _TASK_ARROW in line and (match := _LINE.match(line)):
            if match[2]:
                yield _id(match[1]), _STATUSES[match[2]]
            waiting = "" if match[2] else match[1]


def _id(printed: str) -> str:
    return join_id(*printed.split(_TASK_ARROW))
