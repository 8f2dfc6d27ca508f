"""Logs of ``cargo test``, one section per test binary, and of nextest.

Captured output follows the results of its binary. There only failures count, so that a forged line cannot hide a real
result. A test can bypass the capture; if a section has more passing lines than its result line counts, none counts.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from assay.harness.domain import Status
from assay.harness.reports.base import Result, plain_lines, worst

NAME = "cargo_text"

_STATUSES = {"ok": Status.PASSED, "FAILED": Status.FAILED, "ignored": Status.SKIPPED}
_RUNNING = re.compile(r"running \d+ tests?$")
_RESULT = re.compile(r"test result: \w+\. (\d+) passed; ")
_TEST = re.compile(r"test (\S.*?) \.\.\.(?: (ok|FAILED|ignored)(?:,.*| <[\d.]+s>)?$| (?!bench:)|$)")
_SUFFIX = re.compile(r" - (?:should panic|compile fail|compile)$")
_FAILED = " ... FAILED"
_OUTPUT = frozenset({"failures:", "successes:"})

_NEXTEST = re.compile(r" *(TRY \d+ )?([A-Z]+)(?: \d+/\d+)? \[[^]]*\] (?:\([^)]*\) )?(\S+) (\S.*)$")
_NEXTEST_STATUSES = {
    "PASS": Status.PASSED,
    "LEAK": Status.PASSED,
    "FLAKY": Status.PASSED,
    "SKIP": Status.SKIPPED,
    "FAIL": Status.FAILED,
    "TIMEOUT": Status.FAILED,
}


@dataclass(slots=True)
class _Reader:
    """Reads line by line; ``section`` holds the results of the current binary."""

    results: list[Result] = field(default_factory=list)
    section: list[Result] = field(default_factory=list)
    running: str = ""
    in_output: bool = True

    def read(self, line: str) -> None:
        if _RUNNING.match(line):
            self.close(None)
            self.in_output = False
        elif match := _RESULT.match(line):
            self.close(int(match[1][:9]))
        elif line in _OUTPUT:
            self.in_output = True
        elif not self.in_output:
            self.test(line)
        elif line.endswith(_FAILED) and (match := _TEST.match(line)):
            self.results.append((_name(match[1]), Status.FAILED))

    def test(self, line: str) -> None:
        """Read a line between the start of a binary and its output."""
        match = _TEST.match(line)
        if match and match[2]:
            self.section.append((_name(match[1]), _STATUSES[match[2]]))
        elif match:
            self.running = match[1]
        elif self.running and line in _STATUSES:
            self.section.append((_name(self.running), _STATUSES[line]))
            self.running = ""

    def close(self, passed: int | None) -> None:
        """End a binary whose result line counts that many passed tests; None if there is no such line."""
        if self.running:
            self.section.append((_name(self.running), Status.ERROR))
        lines = sum(status is Status.PASSED for _, status in self.section)
        forged = passed is not None and lines > passed
        self.results += [each for each in self.section if not (forged and each[1] is Status.PASSED)]
        self.section, self.running, self.in_output = [], "", True


def parse(text: str) -> dict[str, Status]:
    """Return test path to status; doc tests are named ``src/lib.rs - item (line 3)``."""
    lines = plain_lines(text)
    reader = _Reader()
    for line in lines:
        reader.read(line)
    reader.close(None)
    return worst((*reader.results, *_nextest(lines)))


def overlooked(text: str) -> frozenset[str]:
    """Return the tests that are only printed with blanks in their names: doc tests, and tests that should panic."""
    printed = {match[1] for match in map(_TEST.match, plain_lines(text)) if match}
    spaced = {name for name in printed if " " in name}
    return frozenset(map(_name, spaced)) - (printed - spaced)


def _name(printed: str) -> str:
    return _SUFFIX.sub("", printed)


def _nextest(lines: list[str]) -> Iterator[Result]:
    """Yield nextest's results; a test that passed on a retry counts as passed, as it does for nextest."""
    flaky: set[str] = set()
    tried: set[str] = set()
    for match in filter(None, map(_NEXTEST.match, lines)):
        again, word, name = match[1], match[2], f"{match[3]} {match[4]}"
        if again and word != "PASS":
            tried.add(name)
        elif word == "FLAKY":
            flaky.add(name)
        status = Status.ERROR if word.startswith("SIG") else _NEXTEST_STATUSES.get(word)
        if status and not again:
            yield match[4], status
    yield from ((name.partition(" ")[2], Status.FAILED) for name in sorted(tried - flaky))
