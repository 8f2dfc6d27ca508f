"""Test Anything Protocol: node:test with its nested subtests, mocha's reporter, QUnit, tape and others.

A runner numbers its tests. A passing line whose number is out of order was printed by a test and does not count. If
tests print to the same stream, a test that counts along can forge a line.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from assay.harness.domain import Status
from assay.harness.reports.base import Result, join_id, plain_lines, worst
from assay.harness.reports.outline import Outline, count_indent

NAME = "tap"

_RESULT = re.compile(r" *(not )?ok (\d+)(?: - | -$| |$)(.*)$")
_DIRECTIVE = re.compile(r" # (?:SKIP|TODO)\b(.*)$", re.IGNORECASE)
_SUBTEST = "# Subtest: "


@dataclass(slots=True)
class _Reader:
    """Reads line by line; ``counts`` holds the last number per indentation."""

    outline: Outline = field(default_factory=Outline)
    counts: dict[int, int] = field(default_factory=dict)
    block: int = -1
    """Indentation of the YAML block that is being skipped; -1 outside of one."""

    def read(self, line: str) -> Iterator[Result]:
        indent, bare = count_indent(line), line.strip()
        if bare and indent < self.block:
            self.block = -1
        if self.block >= 0:
            if bare == "..." and indent == self.block:
                self.block = -1
        elif bare == "---" and indent:
            self.block = indent
        elif bare.startswith(_SUBTEST):
            self.outline.suite(indent, _unescape(bare.removeprefix(_SUBTEST)))
            self.counts.pop(indent + 4, None)
        elif match := _RESULT.match(line):
            yield from self.result(indent, match)

    def result(self, indent: int, match: re.Match[str]) -> Iterator[Result]:
        number, failed = int(match[2][:9]), bool(match[1])
        in_turn = number in {1, self.counts.get(indent, 0) + 1}
        if not in_turn and not failed:
            return
        if in_turn:
            self.counts[indent] = number
        text = f" {match[3]}"
        directive = _DIRECTIVE.search(text)
        title = text[: directive.start()] if directive else text
        if directive and not title.strip():  # QUnit puts the directive first
            title = directive[1]
        if test := join_id(*self.outline.titles(indent), _unescape(title.strip())):
            yield test, Status.SKIPPED if directive else Status.FAILED if failed else Status.PASSED


def parse(text: str) -> dict[str, Status]:
    """Return ``subtest::title`` to status; tests marked skip or todo count as skipped."""
    reader = _Reader()
    return worst(each for line in plain_lines(text) for each in reader.read(line))


def _unescape(title: str) -> str:
    return title.replace("\\#", "#").replace("\\\\", "\\")
