"""What Ant's ``<junit>`` task prints through a formatter with one line per test: ``[junit] [PASS] name(Class)``.

Ant puts its own mark before everything that tests print, so such a line says no more than that it came from the tests'
process; the task's XML (``junit_xml``) cannot be forged by printing.
"""

import re
from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports.base import join_id, plain_lines, worst

NAME = "ant_text"

_STATUSES = {"PASS": Status.PASSED, "FAIL": Status.FAILED, "ERR": Status.ERROR, "SKIP": Status.SKIPPED}
_LINE = re.compile(rf" *\[junit\] +\[({'|'.join(_STATUSES)})\] +(\S.*)$")
_NAME = re.compile(r"(.*)\(([\w.$]+)\)$")


def parse(text: str) -> dict[str, Status]:
    """Return ``Class::test`` to status."""
    return worst(_told(plain_lines(text)))


def _told(lines: list[str]) -> Iterator[tuple[str, Status]]:
    for match in filter(None, map(_LINE.match, lines)):
        name = _NAME.match(match[2])
        yield join_id(name[2], name[1]) if name else join_id(match[2]), _STATUSES[match[1]]
