"""Log of Ant's ``<junit>`` task with a formatter of one line per test: ``[junit] [PASS] name(Class)``.

Ant puts ``[junit]`` before all that tests print as well, so a test can forge such a line. The task's XML
(``junit_xml``) cannot be forged by printing.
"""

import re
from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports.base import Result, join_id
from assay.harness.reports.sums import Sums, find_lines, make_result, read_lines

NAME = "ant_text"

_STATUSES = {"PASS": Status.PASSED, "FAIL": Status.FAILED, "ERR": Status.ERROR, "SKIP": Status.SKIPPED}
_LINE = re.compile(rf"(?<! ) *\[junit\] +\[({'|'.join(_STATUSES)})\] +(\S.*)$")
_NAME = re.compile(r"(.*)\(([\w.$]+)\)$")


def results(lines: list[str]) -> Iterator[Result]:
    """Yield results by ``Class::test``."""
    for match in find_lines(_LINE, lines, "[junit]"):
        name = _NAME.match(match[2])
        test = join_id(name[2], name[1]) if name else join_id(match[2])
        yield make_result(match, test, _STATUSES[match[1]])


parse, find_gap = read_lines(
    results,
    Sums(failed=r"\[junit\] Tests run: \d+, Failures: (\d+), Errors: (\d+)", total=r"\[junit\] Tests run: (\d+), "),
)
