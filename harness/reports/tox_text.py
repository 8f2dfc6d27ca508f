"""Summaries in a log of tox 3 and 4: one line per environment. Above the last one of tox 4, failures are read."""

import re
from collections.abc import Iterator
from itertools import takewhile

from assay.harness.domain import Status
from assay.harness.reports.base import Result, join_id, plain_lines, worst
from assay.harness.reports.sums import find_lines

NAME = "tox_text"

_HEADING = re.compile(r"_{3,} summary _{3,}$")
_THREE = re.compile(r"(?:(ERROR|SKIPPED): +|  )(?!ERROR:|SKIPPED:)(\S+): (.*)$")
_FOUR = re.compile(r"  (\S+): (OK|FAIL|SKIP|IGNORED FAIL)\b.*(?:\(|code)")
_FOUR_STATUSES = {"OK": Status.PASSED, "FAIL": Status.FAILED, "SKIP": Status.SKIPPED, "IGNORED FAIL": Status.XFAIL}


def parse(text: str) -> dict[str, Status]:
    lines = plain_lines(text)
    headings = [place for place, line in enumerate(lines) if _HEADING.search(line)]
    sections = (takewhile(bool, lines[place + 1 :]) for place in headings)
    three = (match for section in sections for match in find_lines(_THREE, section, ": "))
    if headings:
        return worst((join_id(match[2]), _three_status(match[1] or "", match[3])) for match in three)
    failures = (match for line in lines if ": FAIL " in line and (match := _FOUR.match(line)))
    return worst((*((join_id(match[1]), _FOUR_STATUSES[match[2]]) for match in failures), *_four(lines)))


def _three_status(mark: str, summary: str) -> Status:
    if mark == "SKIPPED":
        return Status.SKIPPED
    if summary == "commands succeeded" and not mark:
        return Status.PASSED
    return Status.FAILED if summary == "commands failed" else Status.ERROR


def _four(lines: list[str]) -> Iterator[Result]:
    """Read the last lines upwards, to the first one that is not of the summary."""
    for line in reversed(lines):
        if match := _FOUR.match(line):
            yield join_id(match[1]), _FOUR_STATUSES[match[2]]
        elif line and not line.startswith(("  congratulations", "  evaluation failed")):
            return
