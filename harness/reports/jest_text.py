"""Log of jest: a line per file and, with ``--verbose``, an outline of its tests right under it.

Only the outline that directly follows such a line is read. Jest prints the output of tests elsewhere and indented; a
test that bypasses the console can forge a whole file. Lines ``[PASSED] suite > title``, which published evaluation
scripts make from jest's JSON, are read as well.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from assay.harness.domain import Status
from assay.harness.reports.base import Result, join_id, line_parser
from assay.harness.reports.outline import Outline, count_indent

NAME = "jest_text"

_TIME = r"(?: \([\d.]+ ?m?s\))?$"
_FILE = re.compile(rf" ?(PASS|FAIL) +(?:\S.*? )??(\S+?){_TIME}")
_CROSSES = "✕✖\N{MULTIPLICATION SIGN}"
_RESULT = re.compile(rf"([✓✔√{_CROSSES}○✎]) (?:skipped |todo )?(\S.*?){_TIME}")
_COUNT = re.compile(r"\d+ tests?$")
_STATUSES = {
    **dict.fromkeys("✓✔√", Status.PASSED),
    **dict.fromkeys(_CROSSES, Status.FAILED),
    **dict.fromkeys("○✎", Status.SKIPPED),
}
_TRANSFORMED = re.compile(r"\[(PASSED|FAILED|PENDING|SKIPPED|TODO)\] (\S.*)$")
_TRANSFORMED_STATUSES = {"PASSED": Status.PASSED, "FAILED": Status.FAILED}
_NOT_RUN = "● Test suite failed to run"


@dataclass(slots=True)
class _File:
    """A test file and the results in its lines."""

    name: str = ""
    passed: bool = True
    broken: bool = False
    outlining: bool = False
    outline: Outline = field(default_factory=Outline)
    tests: list[Result] = field(default_factory=list)

    def read(self, line: str) -> None:
        bare = line.strip(" ")
        self.broken = self.broken or bare == _NOT_RUN
        self.outlining = self.outlining and line.startswith("  ") and not bare.startswith("●")
        if not self.outlining:
            return
        if match := _RESULT.match(bare):
            if not _COUNT.match(match[2]):
                titles = self.outline.titles(count_indent(line))
                self.tests.append((join_id(self.name, *titles, match[2]), _STATUSES[match[1]]))
        else:
            self.outline.suite(count_indent(line), bare)

    @property
    def has_failed_tests(self) -> bool:
        return any(status is Status.FAILED for _, status in self.tests)

    def results(self, explained: set[str]) -> Iterator[Result]:
        """Yield the tests, and the file itself if they do not explain its result.

        Args:
            explained: files with failed tests so far; a summary at the end names them again.
        """
        yield from self.tests
        if self.has_failed_tests:
            explained.add(self.name)
        if not self.name:
            return
        if self.broken:
            yield join_id(self.name), Status.ERROR
        elif not self.passed and self.name not in explained:
            yield join_id(self.name), Status.FAILED
        elif self.passed and not self.tests:
            yield join_id(self.name), Status.PASSED


@line_parser
def parse(lines: list[str]) -> Iterator[Result]:
    """Yield results by ``file::suite::title``, or only the file if its tests are not listed."""
    file, explained = _File(), set[str]()
    for line in lines:
        if match := _FILE.match(line):
            yield from file.results(explained)
            file = _File(name=match[2], passed=match[1] == "PASS", outlining=True)
        elif match := _TRANSFORMED.match(line):
            yield join_id(*match[2].split(" > ")), _TRANSFORMED_STATUSES.get(match[1], Status.SKIPPED)
        else:
            file.read(line)
    yield from file.results(explained)
