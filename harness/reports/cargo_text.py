"""Logs of ``cargo test``, one section per test binary, and of nextest.

Captured output follows the results of its binary. There only failures count, so that a forged line cannot hide a real
result. A test can bypass the capture; if a section has more passing lines than its result line counts, none counts.
Before a test with other words around its result counts as passed, the section has to have as many as it counts.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from assay.harness.domain import Status
from assay.harness.reports.base import Result, plain_lines
from assay.harness.reports.sums import Glued, Sums, drop_unconfirmed, find_glued, make_result, read_lines

NAME = "cargo_text"

_STATUSES = {"ok": Status.PASSED, "FAILED": Status.FAILED, "ignored": Status.SKIPPED}
_RUNNING = re.compile(r"running \d+ tests?$")
_RESULT = re.compile(r"test result: \w+\. (\d+) passed; ")
_TEST = re.compile(r"test (\S+(?: - .*?)?) \.\.\.(?: (?!bench:)(.*)|)$")
_ENDED = re.compile(r"(?:(ok|FAILED)(?: <[\d.]+s>)?|(ignored)(?:, .*)?)$")
_SUFFIX = re.compile(r" - (?:should panic|compile fail|compile)$")
_FAILED = " ... FAILED"
_OUTPUT = frozenset({"failures:", "successes:"})

_NEXTEST = re.compile(r"(?<! ) *(TRY \d+ )?([A-Z]+)(?: \d+/\d+)? \[[^]]*\] (?:\([^)]*\) )?(\S+) (\S.*)$")
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
    worded: Status | None = None
    """What stands at an end of the words of the running test."""
    in_output: bool = True

    def read(self, line: str) -> None:
        if _RUNNING.match(line):
            self.close(None)
            self.in_output = False
        elif match := find_glued(_RESULT, line, "test result: "):
            self.close(int(match[1][:9]))
        elif line in _OUTPUT:
            self.in_output = True
        elif not self.in_output:
            self.test(line)
        elif line.endswith(_FAILED) and (match := find_glued(_TEST, line)):
            self.results.append((_name(match[1]), Status.FAILED))

    def test(self, line: str) -> None:
        """Read a line between the start of a binary and its output."""
        match = find_glued(_TEST, line, " ...")
        if match:
            self.end_words()
            self.running, line = match[1], match[2] or ""
        if not self.running:
            return
        ended = _ENDED.match(line) if match else None
        if ended or line in _STATUSES:
            result = _name(self.running), _STATUSES[(ended[1] or ended[2]) if ended else line]
            self.section.append(make_result(match, *result) if match else result)
            self.running, self.worded = "", None
        elif word := next((word for word in ("FAILED", "ok") if line.startswith(word) or line.endswith(word)), ""):
            self.worded = Status.FAILED if self.worded is Status.FAILED else _STATUSES[word]

    def end_words(self) -> None:
        """End the running test with what stands in its words, if it has no line of its own."""
        if self.worded:
            self.section.append(Glued(_name(self.running), self.worded))
            self.running, self.worded = "", None

    def close(self, passed: int | None) -> None:
        """End a binary whose result line counts that many passed tests; None if there is no such line."""
        self.end_words()
        if self.running:
            self.section.append((_name(self.running), Status.ERROR))
        section = drop_unconfirmed(self.section, {} if passed is None else {"passed": passed})
        lines = sum(status is Status.PASSED for _, status in section)
        forged = passed is not None and lines > passed
        self.results += [(each[0], each[1]) for each in section if not (forged and each[1] is Status.PASSED)]
        self.section, self.running, self.in_output = [], "", True


def results(lines: list[str]) -> Iterator[Result]:
    """Yield results by test path; doc tests are named ``src/lib.rs - item (line 3)``."""
    reader = _Reader()
    for line in lines:
        reader.read(line)
    reader.close(None)
    yield from reader.results
    yield from _nextest(lines)


parse, find_gap = read_lines(
    results,
    Sums(
        passed=r"test result: \w+\. (\d+) passed; |Summary \[.*?\] .* tests? run: (\d+) passed",
        failed=r"test result: \w+\. \d+ passed; (\d+) failed; |Summary \[.*?\] .* tests? run: .*\b(\d+) failed",
        opened=r"^running \d+ tests?$",
        closed=r"test result: ",
    ),
)


def overlooked(text: str) -> frozenset[str]:
    """Return the tests that are only printed with blanks in their names: doc tests, and tests that should panic."""
    printed = {match[1] for line in plain_lines(text) if " ..." in line and (match := find_glued(_TEST, line))}
    spaced = {name for name in printed if " " in name}
    return frozenset(map(_name, spaced)) - (printed - spaced)


def _name(printed: str) -> str:
    return _SUFFIX.sub("", printed)


def _nextest(lines: list[str]) -> Iterator[Result]:
    """Yield nextest's results; a test that passed on a retry counts as passed, as it does for nextest."""
    flaky: set[str] = set()
    tried: set[str] = set()
    found = [match for line in lines if " [" in line and (match := find_glued(_NEXTEST, line))]
    for match in found:
        again, word, name = match[1], match[2], f"{match[3]} {match[4]}"
        if again and word != "PASS":
            tried.add(name)
        elif word == "FLAKY":
            flaky.add(name)
        status = Status.ERROR if word.startswith("SIG") else _NEXTEST_STATUSES.get(word)
        if status and not again:
            yield make_result(match, match[4], status)
    yield from ((name.partition(" ")[2], Status.FAILED) for name in sorted(tried - flaky))
