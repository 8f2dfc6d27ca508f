"""Log of Maven: one line of counts per test class, one per failed method, and the end of each build.

Maven names no method that passed, so evaluation scripts run one build per test; the shell's trace of ``-Dtest=`` shows
the test of a build. Tests print to the same stream: only classes that Maven has announced count, and a class that
failed stays failed. Surefire's XML (``junit_xml``) cannot be forged by printing.
"""

import re
from collections.abc import Callable, Iterable, Iterator

from assay.harness.domain import Status
from assay.harness.reports.base import Result, join_id, line_parser

NAME = "maven_text"

_RUNNING = re.compile(r"(?:\[INFO\] )?Running (\S+)$")
_SUMS = re.compile(
    r"(?:\[\w+\] )?Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+), Time elapsed: [^<]*?"
    r"(?:<<< (?:FAILURE|ERROR)!)?(?: -{1,2} in (\S+))?$"
)
_METHOD = re.compile(
    r"(?:\[ERROR\] )?(?:([\w$]+(?:[\[{(][^.]*?)?)\(([\w.$]+)\)|([\w.$]*\b[A-Z_][\w$]*)(?:\.([\w$]+.*?))?)"
    r" (?: |-- )Time elapsed: .*<<< (FAILURE|ERROR)!$"
)
_STATUSES = {"FAILURE": Status.FAILED, "ERROR": Status.ERROR, "SUCCESS": Status.PASSED}
_TRACED = re.compile(r"\++ .*-Dtest=(\S+)")
_BUILD = re.compile(r"(?:\[\w+\] )?BUILD (SUCCESS|FAILURE)$")


@line_parser
def parse(lines: list[str]) -> Iterable[Result]:
    """Yield results by ``Class::method``, or only the class if no method is named."""
    return (*classes(lines, _sum_status), *_methods(lines), *_builds(lines))


def classes(lines: list[str], status_of: Callable[[int, int, int, int], Status | None]) -> Iterator[Result]:
    """Yield the classes that Maven has announced, by their counts of tests that ran, failures, errors and skipped."""
    announced: dict[str, None] = {}
    for line in lines:
        if match := _RUNNING.match(line):
            announced[match[1]] = None
        elif announced and "Tests run: " in line and (match := _SUMS.match(line)):
            name = match[5] or next(reversed(announced))
            ran, failures, errors, skipped = map(int, match.groups()[:4])
            status = status_of(ran, failures, errors, skipped)
            if status and name in announced:
                yield join_id(name), status


def _sum_status(run: int, failures: int, errors: int, skipped: int) -> Status | None:
    if errors:
        return Status.ERROR
    if failures:
        return Status.FAILED
    if run == 0:
        return None
    return Status.SKIPPED if run == skipped else Status.PASSED


def _methods(lines: list[str]) -> Iterator[Result]:
    for line in lines:
        if "Time elapsed: " in line and "Tests run: " not in line and (match := _METHOD.match(line)):
            cls, method = match[2] or match[3], match[1] or match[4] or ""
            yield join_id(cls, method), _STATUSES[match[5]]


def _builds(lines: list[str]) -> Iterator[Result]:
    """Pair the tests of the shell's trace with the ends of the builds, in order.

    More ends than tests mean that a test has printed one; then no pass counts.
    """
    waiting: list[str] = []
    pairs: list[tuple[str, str]] = []
    surplus = False
    for line in lines:
        if match := _TRACED.match(line):
            waiting.append(match[1].strip("'\""))
        elif match := _BUILD.match(line):
            surplus = surplus or not waiting
            pairs += [(waiting.pop(0), match[1])] if waiting else []
    for name, ended in pairs:
        if not surplus or ended == "FAILURE":
            yield join_id(*name.split("#")), _STATUSES[ended]
