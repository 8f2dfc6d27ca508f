"""Logs of Ruby's minitest (``-v``) and of test-unit's verbose outline.

The output of a test is between its name and its result, so a result counts only for the test named before it. A test
can still forge a whole line.
"""

import re
from collections.abc import Iterable, Iterator

from assay.harness.domain import Status
from assay.harness.reports.base import Result, join_id
from assay.harness.reports.outline import Outline
from assay.harness.reports.sums import Sums, find_glued, make_result, read_lines

NAME = "minitest_text"

_STATUSES = {
    ".": Status.PASSED,
    "F": Status.FAILED,
    "E": Status.ERROR,
    "S": Status.SKIPPED,
    "P": Status.SKIPPED,  # test-unit: pending
    "O": Status.SKIPPED,  # test-unit: omitted
    "N": Status.PASSED,  # test-unit: with a notification
}
_START = re.compile(r"([A-Z][\w:]*(?: \w[^#]*)?)#(\S.*?) =(?: |$)")
_END = re.compile(r"(?:.*\D)?\d+\.\d+ s = ([.FES])(.*)$")

_RESULT = re.compile(r"(?<! )( {2,})(\S.*?):[ \t]+([.FEPON])(?:: \([\d.e-]+\))?$")
_TITLE = re.compile(r"( *)(\S.*):$")
_STARTED = "Started"


def results(lines: list[str]) -> Iterable[Result]:
    """Yield results by ``Class::test``."""
    return (*_minitest(lines), *_test_unit(lines))


def _minitest(lines: list[str]) -> Iterator[Result]:
    running, started = "", None
    for line in lines:
        rest = line
        if match := find_glued(_START, line, " ="):
            if running:
                yield running, Status.ERROR
            running, started, rest = join_id(match[1], match[2]), match, line[match.end() :]
        if running and started and " s = " in rest and (end := _END.match(rest)):
            yield make_result(bool(end[2]) or started, running, _STATUSES[end[1]])
            running = ""
    if running:
        yield running, Status.ERROR


def _test_unit(lines: list[str]) -> Iterator[Result]:
    outline, inside = Outline(), False
    for line in lines:
        if line in {_STARTED, "Started:"}:
            outline, inside = Outline(), True
        elif inside and (match := find_glued(_RESULT, line, ":")):
            test = join_id(*outline.titles(len(match[1])), match[2].removeprefix("test: "))
            yield make_result(match, test, _STATUSES[match[3]])
        elif inside and (match := _TITLE.match(line)):
            outline.suite(len(match[1]), match[2])


parse, find_gap = read_lines(
    results,
    Sums(
        failed=r"\d+ assertions, (\d+) failures, (\d+) errors",
        total=r"(\d+) (?:runs|tests), \d+ assertions, \d+ failures",
    ),
    begins_with_name=True,
)
