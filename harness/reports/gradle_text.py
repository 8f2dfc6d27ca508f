"""Log of Gradle with passed and failed tests shown: ``com.x.FooTest > adds PASSED``.

Gradle indents the standard streams of tests, so only lines without indentation count. The result may follow the name a
few lines later if another process prints in between, and words of one may follow it directly.
"""

import re
from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports.base import Result, join_id, plain_lines
from assay.harness.reports.sums import Sums, compare, drop_unconfirmed, make_result, read_lines

NAME = "gradle_text"

_STATUSES = {"PASSED": Status.PASSED, "FAILED": Status.FAILED, "SKIPPED": Status.SKIPPED}
_NOTICE = re.compile(r"(?:Picked up|WARNING:|OpenJDK|Java HotSpot\(TM\)) ")
"""How a virtual machine begins what it says as it starts, without a line of its own."""
_LINE = re.compile(r"([^\s>][^>]*? > .*?)(?: (PASSED|FAILED|SKIPPED)([^\s(].*)?)?(?: \([\d.]+m?s\))?$")
_COMPLETED = re.compile(r"(?<!\d)(\d{1,9}) tests? completed(?:, (\d+) failed)?(?:, (\d+) skipped)?$", re.MULTILINE)
_TASK_ARROW = " > "


def results(lines: list[str]) -> Iterator[Result]:
    """Yield results by ``Class::test``."""
    waiting = ""
    for line in lines:
        if waiting and (status := _STATUSES.get(line.removeprefix(" "))):
            yield _id(waiting), status
            waiting = ""
        elif _TASK_ARROW in line and (match := _LINE.match(line)):
            if match[2]:
                glued = bool(match[3]) and not _NOTICE.match(match[3])
                yield make_result(glued, _id(match[1]), _STATUSES[match[2]])
            waiting = waiting if match[2] else match[1]


def _id(printed: str) -> str:
    return join_id(*printed.split(_TASK_ARROW))


parse = read_lines(results, Sums(), begins_with_name=True)[0]


def find_gap(text: str) -> str:
    """Compare the counts of a failed task with the lines; it may be that no skipped test has one."""
    lines = plain_lines(text)
    found = [[int((number or "0")[:9]) for number in match] for match in _COMPLETED.findall("\n".join(lines))]
    counted = {"failed": sum(each[1] for each in found), "passed": sum(2 * each[0] - sum(each) for each in found)}
    return compare(counted, drop_unconfirmed([*results(lines)], {}))
