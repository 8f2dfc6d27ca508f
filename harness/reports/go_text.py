"""Log of ``go test -v``.

Tests can print such lines themselves. Only a result of a test that the runner has started counts, and a forged pass
loses against the real failure. ``go_json`` has no such gap.
"""

import re
from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports.base import Result
from assay.harness.reports.sums import Sums, read_lines

NAME = "go_text"

_STATUSES = {"PASS": Status.PASSED, "FAIL": Status.FAILED, "SKIP": Status.SKIPPED}
_STARTED = "=== RUN "
_RUN = re.compile(r"=== RUN +(\S.*)$")
_END = re.compile(r"--- (PASS|FAIL|SKIP): (\S.*) \([\d.]+ ?s(?:econds)?\)$")
_BUILD = re.compile(r"FAIL\t(\S+) \[(?:build|setup) failed\]$")


def results(lines: list[str]) -> Iterator[Result]:
    """Yield results by test name; a package that could not be built is an error under its import path."""
    started: set[str] = set()
    ended: set[str] = set()
    for line in lines:
        if (start := line.find(_STARTED)) >= 0 and (match := _RUN.match(line, start)):
            started.add(match[1])
        elif (start := line.rfind("--- ")) >= 0 and (match := _END.match(line, start)):
            if match[2] in started or match[1] == "FAIL":
                ended.add(match[2])
                yield match[2], _STATUSES[match[1]]
        elif match := _BUILD.match(line):
            yield match[1], Status.ERROR
    yield from ((test, Status.ERROR) for test in sorted(started - ended))


parse, find_gap = read_lines(results, Sums(failed=r"FAIL\t\S+\t[\d.]+s$"))
