"""One line per RSpec example, ``description - status`` or ``description - place - status``.

Published evaluation scripts print such lines from RSpec's JSON. They drop the output of examples, which precedes the
JSON; under a script that keeps it, an example can forge a line. Of RSpec's own ``documentation``, failures are read:
``description (FAILED - 1)``.
"""

import re
from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports.base import Result, join_id
from assay.harness.reports.sums import Sums, read_lines

NAME = "rspec_text"

_STATUSES = {"passed": Status.PASSED, "failed": Status.FAILED, "pending": Status.SKIPPED}
_END = re.compile(r" - (passed|failed|pending)$")
_FAILED = re.compile(r" +(\S.*) \(FAILED - \d+\)$")
_PLACE = re.compile(r" - (\./\S+\[[\d:]+\])$")


def results(lines: list[str]) -> Iterator[Result]:
    """Yield results by ``place::description``, or the description alone."""
    for line in lines:
        if end := _END.search(line):
            description = line[: end.start()]
            place = _PLACE.search(description)
            test = join_id(place[1], description[: place.start()]) if place else join_id(description)
            if test:
                yield test, _STATUSES[end[1]]
        elif failed := _FAILED.match(line):
            yield join_id(failed[1]), Status.FAILED


parse, find_gap = read_lines(
    results,
    Sums(failed=r"\d+ examples?, (\d+) failures?", total=r"(\d+) examples?, \d+ failures?"),
    begins_with_name=True,
)
