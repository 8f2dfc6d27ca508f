"""Log of Jasmine's own reporter: dots, and the full names of the specs that failed.

The last line, ``812 specs, 0 failures``, shows that the suite ran; a spec can only print such a line before it.
"""

import re
from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports.base import Result, join_id, plain_lines
from assay.harness.reports.sums import Sums, read_lines

NAME = "jasmine_text"

_SECTIONS = {"Failures:": Status.FAILED, "Pending:": Status.SKIPPED, "Suite error": Status.ERROR}
_ENTRY = re.compile(r"\d+\) (\S.*)$")
_SUMS = re.compile(r"(\d+) specs?, \d+ failures?")
_INCOMPLETE = ("Incomplete: ", "No specs found")


def suite_ran(text: str) -> bool:
    lines = plain_lines(text)
    sums = [match for match in map(_SUMS.match, lines) if match]
    return bool(sums) and int(sums[-1][1][:9]) > 0 and not any(line.startswith(_INCOMPLETE) for line in lines)


def results(lines: list[str]) -> Iterator[Result]:
    """Yield results by the full name of every failed or pending spec; an entry before any heading is a failure."""
    status = Status.FAILED
    for line in lines:
        if line in _SECTIONS:
            status = _SECTIONS[line]
        elif match := _ENTRY.match(line):
            yield join_id(match[1]), status


parse, find_gap = read_lines(results, Sums(failed=r"\d+ specs?, (\d+) failures?"))
