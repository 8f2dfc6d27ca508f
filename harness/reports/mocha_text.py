"""Log of mocha's ``spec`` reporter, in a terminal or from a headless browser; other reporters name failures only.

Tests can print such lines themselves, but failures are listed again at the end, and the worse status counts. The count,
``812 passing``, shows that the suite ran.
"""

import re
from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports.base import Result, join_id, plain_lines, worst
from assay.harness.reports.outline import Outline, count_indent

NAME = "mocha_text"

_PASSING = re.compile(r" +(\d+) passing\b")
_FAILING = re.compile(r" +\d+ failing$")
_PASSED = re.compile(r"[✓✔√] (\S.*?)(?: \(\d+ms\))?$")
_NUMBERED = re.compile(r"\d+\) (\S.*)$")
_PENDING = re.compile(r"- (\S.*)$")
_HOOK = re.compile(r'"(?:before|after) (?:all|each)" hook')


def parse(text: str) -> dict[str, Status]:
    """Return ``suite::title`` to status; a failed hook is an error under its own title."""
    lines = plain_lines(text)
    end = next((place for place, line in enumerate(lines) if _PASSING.match(line)), len(lines))
    return worst((*_tree(lines[:end]), *_failures(lines[end:])))


def suite_ran(text: str) -> bool:
    """Return whether mocha printed a count of passed tests above 0, which it does at the end."""
    counts = [match for match in map(_PASSING.match, plain_lines(text)) if match]
    return bool(counts) and int(counts[-1][1][:9]) > 0


def _tree(lines: list[str]) -> Iterator[Result]:
    outline = Outline()
    for line in lines:
        indent, bare = count_indent(line), line.strip(" ")
        if not indent or not bare:
            continue
        if found := _result(bare):
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
        listing = listing or _FAILING.match(line) is not None
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
