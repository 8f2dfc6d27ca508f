"""Log of Maven: one line of counts per test class, one per failed method, and the end of each build.

Maven names no method that passed, so evaluation scripts run one build per test; the shell's trace of ``-Dtest=`` shows
the test of a build. Tests print to the same stream: only classes that Maven has announced count, and a class that
failed stays failed. Surefire's XML (``junit_xml``) cannot be forged by printing.
"""

import re
from collections.abc import Callable, Iterable, Iterator

from assay.harness.domain import Status
from assay.harness.reports.base import Result, join_id, plain_lines
from assay.harness.reports.sums import Sums, find_glued, make_result, read_lines

NAME = "maven_text"

_RUNNING = re.compile(r"(?:\[INFO\] )?Running (\S+)$")
_SUMS = re.compile(
    r"(?:\[\w+\] )?Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+), Time elapsed: [^<]*?"
    r"(?:<<< (?:FAILURE|ERROR)!)?(?: -{1,2} in (\S+))?$"
)
_METHOD = re.compile(
    r"(?:\[ERROR\] )?(?<![\w.$])(?:([\w$]+(?:[\[{(][^.]*?)?)\(([\w.$]+)\)|([\w.$]*\b[A-Z_][\w$]*)(?:\.([\w$]+.*?))?)"
    r" (?: |-- )Time elapsed: .*<<< (FAILURE|ERROR)!$"
)
_STATUSES = {"FAILURE": Status.FAILED, "ERROR": Status.ERROR, "SUCCESS": Status.PASSED}
_TRACED = re.compile(r"\++ .*-Dtest=(\S+)")
_BUILD = re.compile(r"(?:\[\w+\] )?BUILD (SUCCESS|FAILURE)$")


def results(lines: list[str]) -> Iterable[Result]:
    """Yield results by ``Class::method``, or only the class if no method is named."""
    return (*classes(lines, _sum_status), *_methods(lines), *_builds(lines))


def classes(lines: list[str], status_of: Callable[[int, int, int, int], Status | None]) -> Iterator[Result]:
    """Yield the classes that Maven has announced, by their counts of tests that ran, failures, errors and skipped."""
    announced: dict[str, None] = {}
    for line in lines:
        if match := find_glued(_RUNNING, line, "Running "):
            announced[match[1]] = None
        elif announced and "Tests run: " in line and (match := find_glued(_SUMS, line)):
            name = match[5] or next(reversed(announced))
            ran, failures, errors, skipped = map(int, match.groups()[:4])
            status = status_of(ran, failures, errors, skipped)
            if status and name in announced:
                yield make_result(match, join_id(name), status)


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
        if "Time elapsed: " in line and "Tests run: " not in line and (match := find_glued(_METHOD, line)):
            cls, method = match[2] or match[3], match[1] or match[4] or ""
            yield join_id(cls, method), _STATUSES[match[5]]


def _builds(lines: list[str]) -> Iterator[Result]:
    """Pair the tests of the shell's trace with the ends of the builds, in order.

    The trace is another stream and may come late; then each build has to end once, with success. A surplus of ends
    means that a test has printed one, and no pass counts.
    """
    traced: list[str] = []
    ended: list[str] = []
    in_turn = True
    for line in lines:
        if match := find_glued(_TRACED, line, "-Dtest="):
            traced.append(match[1].strip("'\""))
        elif match := find_glued(_BUILD, line, "BUILD "):
            ended.append(match[1])
        in_turn = in_turn and len(ended) <= len(traced) <= len(ended) + 1
    sure = in_turn or (len(traced) == len(ended) and "FAILURE" not in ended)
    for name, end in zip(traced, ended, strict=False):
        if sure or end == "FAILURE":
            yield join_id(*name.split("#")), _STATUSES[end]


_COUNTS = r"Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: \d+"
_ENDS = r"(?:, Flakes: \d+)?$", ", Time elapsed: "  # of the counts of a build, and of a class
parse = read_lines(results, Sums(), begins_with_name=True)[0]


def find_gap(text: str) -> str:
    """Compare the counts at the ends of builds with those of the classes."""
    plain = "\n".join(plain_lines(text))
    given, shown = (re.findall(_COUNTS + end, plain, re.MULTILINE) for end in _ENDS)
    for place, word in enumerate(("tests", "failures", "errors")):
        counted, read = (sum(int(numbers[place][:9]) for numbers in found) for found in (given, shown))
        if counted > read:
            return f"the log counts {counted} {word} and shows {read}"
    return ""
