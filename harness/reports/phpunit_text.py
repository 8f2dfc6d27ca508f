"""PHPUnit's testdox, printed (``--testdox``) or written to a file (``--testdox-text``).

The file cannot be forged by printing. In the printed form a test's own output stands between the lines; only the title
of a class after an empty line and the results that PHPUnit indents by one blank are read, which a test can imitate.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from assay.harness.domain import Status
from assay.harness.reports.base import join_id, plain_lines, worst

NAME = "phpunit_text"

_STATUSES = {
    "✔": Status.PASSED,
    "✓": Status.PASSED,
    "[x]": Status.PASSED,
    "✘": Status.FAILED,
    "✗": Status.FAILED,
    "[ ]": Status.FAILED,  # the file does not tell failed from skipped
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


def parse(text: str) -> dict[str, Status]:
    """Return ``Class title::test title`` to status."""
    return worst(_told(plain_lines(text)))


def _told(lines: list[str]) -> Iterator[tuple[str, Status]]:
    title = ""
    for before, line in pairwise(["", *lines]):
        if match := _RESULT.match(line):
            if title:
                yield join_id(title, _TIME.sub("", match[2])), _STATUSES[match[1]]
        elif line and not before and not line.startswith(_INDENTED):
            title = _NAMESPACE.sub("", line)
