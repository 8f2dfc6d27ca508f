"""PHPUnit's testdox, as log (``--testdox``) or file (``--testdox-text``).

The file cannot be forged by printing. The log contains the output of tests too: only class titles after an empty line
and results indented by one blank are read, and a test can imitate both.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from assay.harness.domain import Status
from assay.harness.reports.base import Result, join_id
from assay.harness.reports.sums import Sums, find_glued, make_result, read_lines

NAME = "phpunit_text"

_STATUSES = {
    "✔": Status.PASSED,
    "✓": Status.PASSED,
    "[x]": Status.PASSED,
    "✘": Status.FAILED,
    "✗": Status.FAILED,
    "[ ]": Status.FAILED,  # the file does not distinguish failed from skipped
    "↩": Status.SKIPPED,
    "→": Status.SKIPPED,
    "∅": Status.SKIPPED,  # incomplete
    "☢": Status.SKIPPED,  # risky
    "⚠": Status.SKIPPED,  # with a warning
}
_RESULT = re.compile(rf" ({'|'.join(map(re.escape, _STATUSES))}) (\S.*)$")
_TIME = re.compile(r"(?: \[[\d.]+ m?s\]|  \d+ ms)$")
_NAMESPACE = re.compile(r" \([\w\\]+\)$")
_INDENTED = (" ", "\t")


def results(lines: list[str]) -> Iterator[Result]:
    """Yield results by ``Class title::test title``."""
    title = ""
    for before, line in pairwise(["", *lines]):
        if match := find_glued(_RESULT, line):
            if title and (match.start() == 0 or not line.startswith(_INDENTED)):  # messages are indented
                yield make_result(match, join_id(title, _TIME.sub("", match[2])), _STATUSES[match[1]])
        elif line and not line.startswith(_INDENTED) and (not before or before.startswith("Testing ")):
            title = _NAMESPACE.sub("", line)


parse, _find_gap = read_lines(
    results,
    Sums(
        failed=r"Tests: \d+, Assertions: \d+(?:, Errors: (\d+))?(?:, Failures: (\d+))?",
        total=r"(?:OK \(|Tests: )(\d+)(?: tests?, \d+ assertions?\)|, Assertions: )",
    ),
)


def find_gap(text: str) -> str:
    """Compare the counts with the lines; before PHPUnit 7, all data sets of a test share one."""
    return "" if "\n [x] " in text or "\n [ ] " in text else _find_gap(text)
