"""Log of vitest's ``verbose`` reporter: ``✓ file > suite > title 2ms``, flat.

Output of tests follows a heading ``stdout | test`` up to an empty line and is skipped; a test that prints an empty line
first can forge a line after it.
"""

import re
from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports.base import Result, join_id
from assay.harness.reports.sums import Sums, find_glued, make_result, read_lines

NAME = "vitest_text"

_CROSS = "\N{MULTIPLICATION SIGN}"
_STATUSES = {"✓": Status.PASSED, "✔": Status.PASSED, "√": Status.PASSED, _CROSS: Status.FAILED, "✗": Status.FAILED}
_RESULT = re.compile(
    rf"(?<! ) +([✓✔√{_CROSS}✗↓□]) (?:\|[^|]+\| )?(\S.*? > .*?)(?: \(retry x\d+\))?"
    r"(?: \d+(?:\.\d+)? ?m?s| \[skipped\])?$"
)
_PROJECT = re.compile(r"\|[^|]+\| ")
_FAIL = " FAIL  "
_OUTPUT = re.compile(r"std(?:out|err) \| \S")


def results(lines: list[str]) -> Iterator[Result]:
    """Yield results by ``file::suite::title``; a file that could not be run is an error."""
    output = False
    for line in lines:
        if _OUTPUT.search(line):
            output = True
        elif not line:
            output = False
        elif not output and (match := find_glued(_RESULT, line, " > ")):
            yield make_result(match, join_id(*match[2].split(" > ")), _STATUSES.get(match[1], Status.SKIPPED))
        elif _FAIL in line:
            yield _failure(line.partition(_FAIL)[2].strip())


def _failure(entry: str) -> Result:
    """Read an entry of the list of failures: a test, or a file as ``file [ file ]``."""
    file = entry[: (len(entry) - len(" [  ]")) // 2]
    if entry == f"{file} [ {file} ]":
        return join_id(file), Status.ERROR
    return join_id(*_PROJECT.sub("", entry, count=1).split(" > ")), Status.FAILED


parse, find_gap = read_lines(
    results, Sums(passed=r"(?:^| )Tests +(?:.*\| )?(\d+) passed", failed=r"(?:^| )(?:Tests|Test Files) +(\d+) failed")
)
