"""Log of Karma: an outline of all tests (mocha reporter), or dots and the names of the tests that failed.

The outline is read between ``START:`` and ``Finished``; the browser's own log is not indented, so it is no entry. The
last count of each session, ``Executed 812 of 812``, shows that the suite ran.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from assay.harness.domain import Status
from assay.harness.reports.base import Result, join_id, plain_lines
from assay.harness.reports.outline import Outline
from assay.harness.reports.sums import Sums, read_lines

NAME = "karma_text"

_INFO = "\N{INFORMATION SOURCE}"
_STATUSES = {"✔": Status.PASSED, "✓": Status.PASSED, "✖": Status.FAILED, "✗": Status.FAILED, _INFO: Status.SKIPPED}
_ENTRY = re.compile(rf"( +)(?:([✔✓✖✗{_INFO}]) )?(\S.*?)(?: \((?:slow: )?[\d.]+ ?m?s(?:ecs)?(?: / [\d.]+ secs)?\))?$")
_FAILED = re.compile(r"[A-Z]\w*(?: \w+)* [\d.]+ \([^)]*\):? (\S.*?) FAILED$")
_EXECUTED = re.compile(r"Executed (\d+) of (\d+)\b(.*)$")
_SKIPPED = re.compile(r"\(skipped (\d+)\)")
_COMPLETED = re.compile(r"✔ \d+ tests? completed$")
_BROKEN = re.compile(r"DISCONNECTED|ERROR")


def results(lines: list[str]) -> Iterator[Result]:
    """Yield results by ``suite::title``; where Karma joins the titles, they are one part."""
    yield from _outline(lines)
    for line in lines:
        if line.endswith(" FAILED") and (match := _FAILED.match(line)):
            yield join_id(match[1]), Status.FAILED


def suite_ran(text: str) -> bool:
    """Return whether the last count of each session is complete; a lower count is the next session's."""
    counts = [line for line in plain_lines(text) if "Executed " in line or _COMPLETED.match(line)]
    executed = [int(match[1][:9]) if (match := _EXECUTED.search(line)) else 0 for line in counts]
    last = [place for place, (one, other) in enumerate(pairwise(executed)) if other < one]
    return bool(counts) and all(_is_complete(counts[place]) for place in (*last, -1))


def _is_complete(count: str) -> bool:
    if _COMPLETED.match(count):
        return True
    match = _EXECUTED.match(count, count.rfind("Executed "))
    if match is None or _BROKEN.search(match[3]):
        return False
    skipped = _SKIPPED.search(match[3])
    executed = int(match[1][:9])
    return executed > 0 and executed + (int(skipped[1][:9]) if skipped else 0) == int(match[2][:9])


def _outline(lines: list[str]) -> Iterator[Result]:
    outline, inside = Outline(), False
    for line in lines:
        if line == "START:":
            outline, inside = Outline(), True
        elif line.startswith(("Finished in ", "SUMMARY:")):
            inside = False
        elif inside and (match := _ENTRY.match(line)):
            if match[2]:
                yield join_id(*outline.titles(len(match[1])), match[3]), _STATUSES[match[2]]
            else:
                outline.suite(len(match[1]), match[3])


parse, find_gap = read_lines(results, Sums(failed=r"^✖ (\d+) tests? failed$"))
