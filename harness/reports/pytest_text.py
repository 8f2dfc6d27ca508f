"""Log of pytest: the short test summary of ``-rA`` and the progress lines of ``-v``, of any version, also under xdist.

Only two sections are read: the progress under the first header, and the short test summary, which follows directly
(before pytest 4.5) or comes last. The sections between contain captured output, where a test may print anything, even
the summary of a pytest that it runs itself.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from assay.harness.domain import Status
from assay.harness.reports.base import plain_lines, worst

NAME = "pytest_text"

STATUSES = {
    "PASSED": Status.PASSED,
    "FAILED": Status.FAILED,
    "FAIL": Status.FAILED,  # before pytest 4
    "ERROR": Status.ERROR,
    "SKIPPED": Status.SKIPPED,
    "XFAIL": Status.XFAIL,
    "XPASS": Status.PASSED,  # a strict one is reported as FAILED
}

_HEADER = re.compile(r"={3,} (.*\S) ={3,}$")
_SESSION = "test session starts"
_SUMMARY = "short test summary info"
_WORD = "|".join(STATUSES)
_SUMMARY_LINE = re.compile(rf"({_WORD}) (\S.*)$")
_XPASS_ID = re.compile(r"[^\s[]+(?:\[.*?\](?= |$))?")
"""The reason follows after a blank alone before pytest 8."""
_PROGRESS_LINE = re.compile(rf"(?=\S+?::)(.+?) ({_WORD}|xfail|xpass)(?: \(.*\))?(?: +\[ *\d+%\])?$")
_SUBTEST = re.compile(r"(?:^|(?<= ))SUBFAIL(?:ED)?(?![^\[( ])")
_SUBTEST_ID = re.compile(r"(?<!\S)[^\s[(:][^\s:]*::" + _XPASS_ID.pattern)
_WORKER_LINE = re.compile(rf"\[gw\d+\] (?:\[ *\d+%\] )?({_WORD}|xfail|xpass) (\S.*)$")


def parse(text: str) -> dict[str, Status]:
    return worst((test, STATUSES[word]) for test, word in _list_printed(text))


def overlooked(text: str) -> frozenset[str]:
    """Return the tests that pass though they are expected to fail."""
    tests: dict[str, set[str]] = {}
    for test, word in _list_printed(text):
        tests.setdefault(test, set()).add(word)
    return frozenset(test for test, words in tests.items() if words == {"XPASS"})


def _list_printed(text: str) -> list[tuple[str, str]]:
    lines = plain_lines(text)
    sections = _sections(lines)
    if not sections:  # an excerpt: every line counts
        return [*_summary(lines), *_progress(lines), *_subtests(lines)]
    summary, progress = _short_summary(sections), sections[0]
    return [*_summary(summary), *_progress(progress), *_subtests([*summary, *progress])]


def _sections(lines: list[str]) -> list[list[str]]:
    """Split the output at its headers, starting with the one that opens the session if there is one."""
    starts = [index for index, line in enumerate(lines) if line.startswith("===") and _HEADER.match(line)]
    sections = [lines[start:end] for start, end in pairwise([*starts, len(lines)])]
    opening = (place for place, section in enumerate(sections) if _SESSION in section[0])
    return sections[next(opening, 0) :]


def _short_summary(sections: list[list[str]]) -> list[str]:
    """Return the summary that no captured output can precede, else the last one."""
    early, late = ([s for s in part if _SUMMARY in s[0]] for part in (sections[:2], sections[2:]))
    return [*early, *late[-1:], []][0]


def _summary(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        match = _SUMMARY_LINE.match(line)
        if match and not match[2].startswith("["):  # "SKIPPED [2] file:line: why" names no test
            named = _XPASS_ID.match(match[2]) if match[1] == "XPASS" else None
            yield _plain_id(named[0] if named else _drop_reason(match[2])), match[1]


def _progress(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        if match := _WORKER_LINE.match(line):
            yield _plain_id(match[2]), match[1].upper()
        elif match := _PROGRESS_LINE.match(line):
            yield _plain_id(match[1]), match[2].upper()


def _subtests(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yield tests with a failed subtest: those of unittest, and of older plug-ins, pass in their own lines."""
    for line in lines:
        if "SUBFAIL" in line and not _SUMMARY_LINE.match(line) and len(parts := _SUBTEST.split(line, 1)) > 1:
            test = _SUBTEST_ID.search(parts[parts[0][:1] in "[("])  # it follows a description, or precedes one
            if test:
                yield _plain_id(test[0]), "FAILED"


def _drop_reason(entry: str) -> str:
    """Drop `` - reason`` from a summary entry; a parameter in brackets may contain the same separator."""
    bracket, end = entry.find("["), entry.find(" - ")
    while 0 <= bracket < end and entry[end - 1] != "]":
        end = entry.find(" - ", end + 1)
    return entry if end < 0 else entry[:end]


def _plain_id(node: str) -> str:
    """Drop parts of ids that older versions add: the place of an inherited test, and instances of classes."""
    return node.partition(" <- ")[0].replace("::()::", "::")
