"""Log of mocha's ``spec`` reporter, in a terminal or from a headless browser; other reporters name failures only.

Tests can print such lines themselves, but failures are listed again at the end, and the worse status counts. The count,
``812 passing``, shows that the suite ran; what a next session prints follows its failures, from a line on that is not
indented.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from assay.harness.domain import Status
from assay.harness.reports.base import Result, join_id, plain_lines
from assay.harness.reports.outline import Outline, count_indent
from assay.harness.reports.sums import Glued, Sums, read_lines

NAME = "mocha_text"

_PASSING = re.compile(r"(?<![\d.])(\d{1,9}) passing(?: \([\w.]+\))?$")
_FAILING = re.compile(r"(?<![\d.])(\d{1,9}) failing$")
_GLUED = re.compile(r"(?<=\S)( {2,})((?:[✓✔√]|\d+\)) \S.*)$")
_PASSED = re.compile(r"[✓✔√] (\S.*?)(?: \(\d+ms\))?$")
_NUMBERED = re.compile(r"\d+\) (\S.*)$")
_PENDING = re.compile(r"- (\S.*)$")
_HOOK = re.compile(r'"(?:before|after) (?:all|each)" hook')


def results(lines: list[str]) -> Iterator[Result]:
    """Yield results by ``suite::title``; a failed hook is an error under its own title."""
    ends = [place for place, line in enumerate(lines) if " passing" in line and _PASSING.search(line)]
    yield from _tree(lines[: ends[0]] if ends else lines)
    for start, end in pairwise([*ends, len(lines)]):
        yield from _failures(lines[start:end])
        if end < len(lines):
            yield from _tree(lines[_find_next_tree(lines, start, end) : end])


parse, find_gap = read_lines(results, Sums(passed=_PASSING.pattern, failed=_FAILING.pattern))


def suite_ran(text: str) -> bool:
    """Return whether mocha printed a count of passed tests above 0 at the end of each session."""
    counts = [match for match in map(_PASSING.search, plain_lines(text)) if match]
    return bool(counts) and all(int(match[1][:9]) > 0 for match in counts)


def _find_next_tree(lines: list[str], start: int, end: int) -> int:
    """Return where the list of failures ends that follows a count at ``start``."""
    listed = next((place for place in range(start, end) if _FAILING.search(lines[place])), None)
    if listed is None:
        return start
    return next((place for place in range(listed + 1, end) if lines[place][:1].strip()), end)


def _tree(lines: list[str]) -> Iterator[Result]:
    outline = Outline()
    for line in lines:
        indent, bare = count_indent(line), line.strip(" ")
        if glued := _GLUED.search(line) if "  " in bare else None:
            title, status = _result(glued[2]) or ("", Status.MISSING)
            around = (suite for place, suite in outline.open if place < len(glued[1]))
            yield Glued(join_id(*around, title), status)
        elif not indent or not bare:
            continue
        elif found := _result(bare):
            yield join_id(*outline.titles(indent), found[0]), found[1]
        else:
            outline.suite(indent, bare)


def _result(bare: str) -> Result | None:
    if match := _PASSED.match(bare):
        return match[1], Status.PASSED
    if match := _NUMBERED.match(bare):
        return match[1], _failure_status(match[1])
    if match := _PENDING.match(bare):
        return match[1], Status.SKIPPED
    return None


def _failures(lines: list[str]) -> Iterator[Result]:
    """Yield the list of failures: numbered titles, each line indented further than the one before, up to a colon."""
    titles: list[str] = []
    last = -1
    listing = False
    for line in lines:
        listing = listing or _FAILING.search(line) is not None
        indent, bare = count_indent(line), line.strip(" ")
        match = _NUMBERED.match(bare) if listing and indent else None
        if match:
            titles, last = [match[1]], indent
        elif titles and indent > last:
            titles, last = [*titles, bare], indent
        else:
            titles = []
        if titles and titles[-1].endswith(":"):
            title = titles[-1][:-1]
            yield join_id(*titles[:-1], title), _failure_status(title)
            titles = []


def _failure_status(title: str) -> Status:
    return Status.ERROR if _HOOK.match(title) else Status.FAILED
