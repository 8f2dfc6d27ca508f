"""Results in the lines of a log, held against the counts with which their runner sums them up.

A process that prints without a line feed glues words to a result. A failure counts all the same; a pass does only where
the counts leave no doubt, since a test can print one. A log that counts more than was read is cut, or hides something.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from assay.harness.domain import FAILING, Status
from assay.harness.reports.base import Result, plain_lines, worst

_NUMBER = r"(?<!\d)\d{1,9}"  # a search for longer ones would begin again at each digit


class Glued(NamedTuple):
    """A result that shares its line with words of somebody else."""

    test: str
    status: Status


class Sums(NamedTuple):
    """Patterns of a runner's counts, whose groups are added up over all lines; one without a group counts 1 a line."""

    passed: str = ""
    failed: str = ""
    total: str = ""
    opened: str = ""
    """Each needs a line with ``closed``: else the log is cut, or the runner died."""
    closed: str = ""

    def add_up(self, lines: list[str]) -> dict[str, int]:
        """Return the counts that a log has, by the names of their fields."""
        text, counted = "\n".join(lines), dict[str, int]()
        for field in ("passed", "failed", "total"):
            pattern = getattr(self, field).replace(r"\d+", _NUMBER)
            if pattern and (found := [*re.finditer(pattern, text, re.MULTILINE)]):
                numbers = (number for match in found for number in match.groups() or ("1",) if number)
                counted[field] = sum(map(int, numbers))
        return counted

    def is_cut(self, lines: list[str]) -> bool:
        text = "\n".join(lines)
        opened, closed = (sum(1 for _ in re.finditer(each, text, re.MULTILINE)) for each in (self.opened, self.closed))
        return bool(self.opened) and opened > closed


def read_lines(
    results: Callable[[list[str]], Iterable[Result]], sums: Sums, *, begins_with_name: bool = False
) -> tuple[Callable[[str], dict[str, Status]], Callable[[str], str]]:
    """Make a format's ``parse`` and ``find_gap`` from a function that reads the results in the lines of a log.

    ``begins_with_name``: words before a line become a part of the test's name.
    """

    def parse(text: str) -> dict[str, Status]:
        lines = plain_lines(text)
        tests = worst(drop_unconfirmed([*results(lines)], sums.add_up(lines)))
        return fail_hidden(tests) if begins_with_name else tests

    def find_gap(text: str) -> str:
        lines = plain_lines(text)
        counted = sums.add_up(lines)
        found = compare(counted, drop_unconfirmed([*results(lines)], counted))
        return found or ("the log ends before its runner does" if sums.is_cut(lines) else "")

    return parse, find_gap


def find_glued(pattern: re.Pattern[str], line: str, within: str = "") -> re.Match[str] | None:
    """Match a whole line, else the longest end of it; ``within`` is a part that each match has."""
    return pattern.match(line) or (pattern.search(line) if within in line else None)


def find_lines(pattern: re.Pattern[str], lines: Iterable[str], within: str) -> Iterator[re.Match[str]]:
    """Yield the match of each line that has one; see ``find_glued``."""
    return (match for line in lines if within in line and (match := find_glued(pattern, line)))


def make_result(glued: re.Match[str] | bool, test: str, status: Status) -> Result:
    """Make a result; ``glued`` is its match in a line, or whether other words are there."""
    is_glued = glued if isinstance(glued, bool) else glued.start() > 0
    return Glued(test, status) if is_glued else (test, status)


def drop_unconfirmed(found: list[Result], counted: Mapping[str, int]) -> list[Result]:
    """Leave out glued passes unless the counts are those of all results."""
    if not any(map(_is_loose, found)):
        return found
    failed = {test for test, status in found if status in FAILING}
    read = count_statuses(each for each in found if each[1] in FAILING or each[0] not in failed)
    same = all(counted.get(field, read[field]) == read[field] for field in ("passed", "total"))
    if same and (counted.keys() & {"passed", "total"}) and counted.get("failed", 0) <= read["failed"]:
        return found
    return [each for each in found if not _is_loose(each)]


def compare(counted: Mapping[str, int], found: Iterable[Result]) -> str:
    """Return which count is larger than what was read; empty if none is.

    Logs that name failures alone have no passes to compare.
    """
    read = count_statuses(found)
    fields = ("failed", "passed", "total") if read["passed"] else ("failed",)
    for field in fields:
        if counted.get(field, 0) > read[field]:
            kind = "" if field == "total" else f"{field} "
            return f"the log counts {counted[field]} {kind}tests and shows {read[field]}"
    return ""


def count_statuses(found: Iterable[Result]) -> Counter[str]:
    statuses = Counter(status for _, status in found)
    failed = sum(statuses[status] for status in FAILING)
    return Counter(passed=statuses[Status.PASSED], failed=failed, total=statuses.total())


def _is_loose(result: Result) -> bool:
    return isinstance(result, Glued) and result.status is Status.PASSED


def fail_hidden(tests: Mapping[str, Status]) -> dict[str, Status]:
    """Let each passed test fail with whose name that of a failure ends: words may stand before it."""
    failures = [test for test, status in tests.items() if status in FAILING]
    ends = (name[at:] for name in failures for at in range(1, len(name)) if name[at - 1] not in "/.:\\")
    return {**tests, **{end: Status.FAILED for end in ends if tests.get(end) is Status.PASSED}}
