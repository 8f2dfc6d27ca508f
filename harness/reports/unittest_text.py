"""Log of Python's unittest at verbosity 2, also under Django's runner.

A test has up to two names in such a log: its id ``test_x (module.Class)`` and the first line of its docstring. Labels
use either, so both are returned. A process that prints without a line feed may put words around a line or a result.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from assay.harness.domain import FAILING, Status
from assay.harness.reports.base import Result, plain_lines, worst
from assay.harness.reports.sums import Glued, Sums, compare, drop_unconfirmed, find_lines, make_result

NAME = "unittest_text"

_STATUSES = {
    "ok": Status.PASSED,
    "FAIL": Status.FAILED,
    "ERROR": Status.ERROR,
    "skipped": Status.SKIPPED,
    "expected failure": Status.XFAIL,
    "unexpected success": Status.FAILED,
}
_ID = re.compile(r"(\w+ \(\w+(?:\.[\w<>]+)+\))(.*)$")
_RESULT = re.compile(r"(ok|FAIL|ERROR|skipped|expected failure|unexpected success)(?: (['\"]).*\2)?$")
_GLUED_ID = re.compile(r"(test\w* \(\w+(?:\.[\w<>]+)+\))( \.\.\..*)$")
_WORD = r"ok|FAIL|ERROR|skipped|expected failure|unexpected success"
_WORDED = re.compile(rf"({_WORD})|.*({_WORD})(?: (['\"]).*\3)?$")
_SUMS = Sums(total=r"Ran (\d+) tests? in ", failed=r"FAILED \((?:failures=(\d+))?(?:, )?(?:errors=(\d+))?")
_BLOCK = re.compile(r"(FAIL|ERROR): (\w+ \(\w+(?:\.[\w<>]+)+\))")
_ENDS = " ... "


@dataclass(slots=True)
class _Reader:
    """Reads line by line; ``running`` is the test that has started and not yet ended."""

    results: list[Result] = field(default_factory=list)
    glued: bool = False
    worded: Status | None = None
    """What stands at an end of the words that the running test prints."""
    docstrings: dict[str, str] = field(default_factory=dict)
    running: str = ""
    awaits_docstring: bool = False

    def read(self, line: str) -> None:
        match = _ID.match(line)
        if match and (not match[2] or match[2].startswith(_ENDS.rstrip(" "))):
            self.start(match)
        elif self.awaits_docstring:
            self.docstring(line)
        elif " ..." in line and (match := _GLUED_ID.search(line)):
            self.start(match)
        else:
            self.end(line)

    def start(self, match: re.Match[str]) -> None:
        self.end_words()
        self.running, self.awaits_docstring, self.glued = match[1], not match[2], match.start() > 0
        self.rest(match[2])

    def docstring(self, line: str) -> None:
        """Read the line after a bare id: the docstring, dots, and perhaps the result."""
        self.awaits_docstring = False
        text, dots, rest = _split_result(line)
        if dots and self.running:
            self.docstrings[self.running] = text
            self.rest(dots + rest)

    def rest(self, rest: str) -> None:
        """Read the text after a name: a result, noise, or the next test if a subtest has failed silently."""
        after = rest.removeprefix(" ...").removeprefix(" ")
        if _ID.match(after) or _GLUED_ID.search(after):
            self.read(after)
        else:
            self.end(after)

    def end(self, text: str) -> None:
        if not self.running:
            return
        if match := _RESULT.match(text):
            self.results.append(make_result(self.glued, self.running, _STATUSES[match[1]]))
            self.running, self.worded = "", None
        elif match := _WORDED.match(text):
            self.worded = Status.FAILED if self.worded in FAILING else _STATUSES[match[1] or match[2]]

    def end_words(self) -> None:
        """End a running test with what stands in its words, if it has no result of its own."""
        if self.running and self.worded:
            self.results.append(Glued(self.running, self.worded))
        self.running, self.worded = "", None


def _read(lines: list[str]) -> _Reader:
    reader = _Reader()
    for line in lines:
        reader.read(line)
    reader.end_words()
    return reader


def parse(text: str) -> dict[str, Status]:
    """Return test name to status, with an entry for the id and one for the docstring line."""
    lines = plain_lines(text)
    reader = _read(lines)
    found = [*drop_unconfirmed(reader.results, _SUMS.add_up(lines)), *_blocks(lines)]
    return worst((*found, *((reader.docstrings[test], status) for test, status in found if test in reader.docstrings)))


def find_gap(text: str) -> str:
    lines = plain_lines(text)
    counted = _SUMS.add_up(lines)
    found = drop_unconfirmed(_read(lines).results, counted)
    blocks, ended = [*_blocks(lines)], {test for test, _ in found}
    silent = dict(each for each in blocks if each[0] not in ended)  # nothing else shows a failed subtest
    return compare({**counted, "failed": 0}, [*found, *silent.items()]) or compare(
        {"failed": counted.get("failed", 0)}, [*found, *blocks]
    )


def _blocks(lines: list[str]) -> Iterator[Result]:
    """Yield the headings of tracebacks; before Python 3.11, nothing else shows a failed subtest."""
    return ((match[2], _STATUSES[match[1]]) for match in find_lines(_BLOCK, lines, ": "))


def _split_result(line: str) -> tuple[str, str, str]:
    """Split ``docstring ... result``; the docstring may contain such dots too."""
    text, dots, rest = line.rpartition(_ENDS)
    if dots and _RESULT.match(rest):
        return text, dots, rest
    if line.endswith(_ENDS.rstrip(" ")):
        return line.removesuffix(_ENDS.rstrip(" ")), _ENDS, ""
    return line.partition(_ENDS)
