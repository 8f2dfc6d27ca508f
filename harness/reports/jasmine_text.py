"""What Jasmine's own reporter prints: dots, and the full names of the specs that failed.

Whether the suite ran tells its last line, ``812 specs, 0 failures``; a spec could print that line too, but only ahead
of the runner's own.
"""

import re
from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports.base import join_id, plain_lines, worst

NAME = "jasmine_text"

_SECTIONS = {"Failures:": Status.FAILED, "Pending:": Status.SKIPPED, "Suite error": Status.ERROR}
_ENTRY = re.compile(r"\d+\) (\S.*)$")
_SUMS = re.compile(r"(\d+) specs?, \d+ failures?")
_INCOMPLETE = ("Incomplete: ", "No specs found")


def parse(text: str) -> dict[str, Status]:
    """Return the full name of every failed or pending spec to status; an entry before any heading has failed."""
    return worst(_told(plain_lines(text)))


def suite_ran(text: str) -> bool:
    """Tell whether the suite ran to its end."""
    lines = plain_lines(text)
    sums = [match for match in map(_SUMS.match, lines) if match]
    return bool(sums) and int(sums[-1][1][:9]) > 0 and not any(line.startswith(_INCOMPLETE) for line in lines)


def _told(lines: list[str]) -> Iterator[tuple[str, Status]]:
    status = Status.FAILED
    for line in lines:
        if line in _SECTIONS:
            status = _SECTIONS[line]
        elif match := _ENTRY.match(line):
            yield join_id(match[1]), status
