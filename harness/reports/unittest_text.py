"""Log of Python's unittest at verbosity 2, also under Django's runner.

A test has up to two names in such a log: its id ``test_x (module.Class)`` and the first line of its docstring. Labels
use either, so both are returned.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from assay.harness.domain import Status
from assay.harness.reports.base import Result, plain_lines, worst

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
_BLOCK = re.compile(r"(FAIL|ERROR): (\w+ \(\w+(?:\.[\w<>]+)+\))")
_ENDS = " ... "


@dataclass(slots=True)
class _Reader:
    """Reads line by line; ``running`` holds the names of the test that has started and not yet ended."""

    results: list[Result] = field(default_factory=list)
    docstrings: dict[str, str] = field(default_factory=dict)
    running: tuple[str, ...] = ()
    awaits_docstring: bool = False

    def read(self, line: str) -> None:
        match = _ID.match(line)
        if match and (not match[2] or match[2].startswith(_ENDS.rstrip(" "))):
            self.running, self.awaits_docstring = (match[1],), not match[2]
            self.rest(match[2])
        elif self.awaits_docstring:
            self.docstring(line)
        else:
            self.end(line)

    def docstring(self, line: str) -> None:
        """Read the line after a bare id: the docstring, dots, and perhaps the result."""
        self.awaits_docstring = False
        text, dots, rest = _split_result(line)
        if dots and self.running:
            self.docstrings[self.running[0]] = text
            self.running = (self.running[0], text)
            self.rest(dots + rest)

    def rest(self, rest: str) -> None:
        """Read the text after a name: a result, noise, or the next test if a subtest has failed silently."""
        after = rest.removeprefix(" ...").removeprefix(" ")
        if _ID.match(after):
            self.read(after)
        else:
            self.end(after)

    def end(self, text: str) -> None:
        if match := _RESULT.match(text):
            self.results += [(name, _STATUSES[match[1]]) for name in self.running]
            self.running = ()


def parse(text: str) -> dict[str, Status]:
    """Return test name to status, with an entry for the id and one for the docstring line."""
    lines = plain_lines(text)
    reader = _Reader()
    for line in lines:
        reader.read(line)
    return worst((*reader.results, *_blocks(lines, reader.docstrings)))


def _blocks(lines: list[str], docstrings: dict[str, str]) -> Iterator[Result]:
    """Yield the headings of tracebacks; before Python 3.11, nothing else shows a failed subtest."""
    for line in lines:
        if match := _BLOCK.match(line):
            status = _STATUSES[match[1]]
            yield match[2], status
            if match[2] in docstrings:
                yield docstrings[match[2]], status


def _split_result(line: str) -> tuple[str, str, str]:
    """Split ``docstring ... result``; the docstring may contain such dots too."""
    text, dots, rest = line.rpartition(_ENDS)
    if dots and _RESULT.match(rest):
        return text, dots, rest
    if line.endswith(_ENDS.rstrip(" ")):
        return line.removesuffix(_ENDS.rstrip(" ")), _ENDS, ""
    return line.partition(_ENDS)
