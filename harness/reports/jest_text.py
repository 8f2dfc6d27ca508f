"""Log of jest: a line per file and, with ``--verbose``, an outline of its tests right under it.

Only the outline that directly follows such a line is read. Jest prints the output of tests elsewhere and indented; a
test that bypasses the console can forge a whole file. Lines ``[PASSED] suite > title``, which published evaluation
scripts make from jest's JSON, are read as well.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from assay.harness.domain import Status
from assay.harness.reports.base import Result, join_id, plain_lines
from assay.harness.reports.outline import Outline, count_indent
from assay.harness.reports.sums import Sums, compare, find_glued, make_result, read_lines

NAME = "jest_text"

_TIME = r"(?: \([\d.]+ ?m?s\))?$"
_COST = r"(?: \([\d.]+ ?(?:m?s|MB)[^()]*\))?$"
_FILE = re.compile(rf" ?(PASS|FAIL) +(?:\S.*? )??(\S+?){_COST}")
_GLUED_FILE = re.compile(rf"(?<=.)(PASS|FAIL) +(?:\S.*? )??(\S*[./]\S*?){_COST}")
_CROSSES = "✕✖\N{MULTIPLICATION SIGN}"
_RESULT = re.compile(rf"([✓✔√{_CROSSES}○✎]) (?:skipped |todo )?(\S.*?){_TIME}")
_GLUED = re.compile(rf"(?<=\S)( {{2,}})([✓✔√{_CROSSES}○✎] \S.*)$")
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
    glued: bool = False
    """Whether words stand before its name."""
    broken: bool = False
    outlining: bool = False
    outline: Outline = field(default_factory=Outline)
    tests: list[Result] = field(default_factory=list)

    def read(self, line: str) -> None:
        bare = line.strip(" ")
        self.broken = self.broken or bare == _NOT_RUN
        glued = _GLUED.search(line) if self.outlining and "  " in bare else None
        self.outlining = self.outlining and (line.startswith("  ") or glued is not None) and not bare.startswith("●")
        if not self.outlining:
            return
        if match := _RESULT.match(glued[2] if glued else bare):
            if not _COUNT.match(match[2]):
                titles = self.outline.titles(len(glued[1]) if glued else count_indent(line))
                test = join_id(self.name, *titles, match[2])
                self.tests.append(make_result(self.glued or glued is not None, test, _STATUSES[match[1]]))
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
            yield make_result(self.glued, join_id(self.name), Status.PASSED)


def results(lines: list[str]) -> Iterator[Result]:
    """Yield results by ``file::suite::title``, or only the file if its tests are not listed."""
    file, explained = _File(), set[str]()
    for line in lines:
        if match := _match_file(line):
            yield from file.results(explained)
            file = _File(name=match[2], passed=match[1] == "PASS", outlining=True, glued=match.start() > 0)
        elif match := find_glued(_TRANSFORMED, line, "] "):
            status = _TRANSFORMED_STATUSES.get(match[1], Status.SKIPPED)
            yield make_result(match, join_id(*match[2].split(" > ")), status)
        else:
            file.read(line)
    yield from file.results(explained)


def _match_file(line: str) -> re.Match[str] | None:
    return _FILE.match(line) or (_GLUED_FILE.search(line) if "PASS" in line or "FAIL" in line else None)


_SUITES = Sums(passed=r"Test Suites: .*?(\d+) passed", failed=r"Test Suites: (\d+) failed")
parse, _find_gap = read_lines(results, Sums(passed=r"Tests: .*?(\d+) passed", failed=r"Tests: +(\d+) failed"))


def find_gap(text: str) -> str:
    """Compare the counts of files with their lines, and those of tests where each passed file lists its own."""
    lines = plain_lines(text)
    matches = filter(None, map(_match_file, lines))
    files = [(match[2], Status.PASSED if match[1] == "PASS" else Status.FAILED) for match in matches]
    names = {join_id(name) for name, _ in files}
    listed = not any(test in names and status is Status.PASSED for test, status in results(lines))
    counted = compare(_SUITES.add_up(lines), files) if files else ""
    return counted or (_find_gap(text) if listed else "")
