"""Log of pytest: the short test summary of ``-rA`` and the progress lines of ``-v``, of any version, also under xdist.

Only two sections of a session are read: the progress under its first header, and the short test summary, which follows
directly (before pytest 4.5) or comes last. The sections between contain captured output, where a test may print
anything, even whole sessions of a pytest that it runs itself. Where the headers are not in order, the log is read as
one session, and the failures of every summary count.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from assay.harness.domain import FAILING, Status
from assay.harness.reports.base import plain_lines, worst
from assay.harness.reports.sums import compare, fail_hidden

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
_ENDED = re.compile(r"(?:no tests ran|(?:\d+ [a-z ]+(?:, )?)+) in [\d.:]+ ?s")
_COUNTS = {
    "passed": re.compile(r"(?<!\d)(\d{1,9}) passed\b"),
    "failed": re.compile(r"(?<!\d)(\d{1,9}) (?:failed|errors?)\b"),
}
_WORD = "|".join(STATUSES)
_SUMMARY_LINE = re.compile(rf"({_WORD}) (\S.*)$")
_GLUED_FAILURE = re.compile(r"(FAILED|ERROR) ((?!\[)\S+::\S.*)$")
_XPASS_ID = re.compile(r"[^\s[]+(?:\[.*?\](?= |$))?")
"""The reason follows after a blank alone before pytest 8."""
_PROGRESS_LINE = re.compile(rf"(?=\S+?::)(.+?) ({_WORD}|xfail|xpass)(?: \(.*\))?(?: +\[ *\d+%\])?$")
_SUBTEST = re.compile(r"SUBFAIL(?:ED)?(?![^\[( ])")
_SUBTEST_ID = re.compile(r"(?<!\S)[^\s[(:][^\s:]*::" + _XPASS_ID.pattern)
_WORKER_LINE = re.compile(rf"\[gw\d+\] (?:\[ *\d+%\] )?({_WORD}|xfail|xpass) (\S.*)$")


def parse(text: str) -> dict[str, Status]:
    return fail_hidden(worst((test, STATUSES[word]) for test, word in _list_printed(text)))


def find_gap(text: str) -> str:
    return next(filter(None, (each.find_gap() for each in _list_sessions(plain_lines(text)))), "")


def overlooked(text: str) -> frozenset[str]:
    """Return the tests that pass though they are expected to fail."""
    tests: dict[str, set[str]] = {}
    for test, word in _list_printed(text):
        tests.setdefault(test, set()).add(word)
    return frozenset(test for test, words in tests.items() if words == {"XPASS"})


def _list_printed(text: str) -> list[tuple[str, str]]:
    return [each for session in _list_sessions(plain_lines(text)) for each in session.list_printed()]


@dataclass(slots=True)
class _Session:
    """The lines of a session that are read, and the title with which it ends."""

    progress: list[str]
    summary: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    """Summaries of an unknown session; only failures count."""
    ended: str = ""
    opened: bool = False
    """Whether it has its first header, so that it has to end."""

    def list_printed(self) -> Iterator[tuple[str, str]]:
        yield from (each for shown in self._list_shown() for each in shown)
        yield from (each for each in _summary(self.others) if STATUSES[each[1]] in FAILING)

    def _list_shown(self) -> Iterator[list[tuple[str, str]]]:
        yield [*_summary(self.summary), *_subtests(self.summary)]
        yield [*_progress(self.progress), *_subtests(self.progress)]

    def find_gap(self) -> str:
        """Compare the counts of the last line with the section that shows more."""
        if not self.ended:
            return "a session of pytest does not end" if self.opened else ""
        counted = {name: sum(map(int, pattern.findall(self.ended))) for name, pattern in _COUNTS.items()}
        shown = [[(test, STATUSES[word]) for test, word in each if word != "XPASS"] for each in self._list_shown()]
        passed = {test for test, status in shown[0] if status is Status.PASSED}
        if len(passed) > counted["passed"]:
            return f"the log counts {counted['passed']} passed tests and shows {len(passed)}"
        talking = [each for each in shown if (bool(passed) <= any(s is Status.PASSED for _, s in each)) and each]
        return min((compare(counted, each) for each in talking or [[]]), key=len)


def _list_sessions(lines: list[str]) -> list[_Session]:
    starts = [place for place, line in enumerate(lines) if line.endswith("===") and _is_header(line)]
    if not starts:  # an excerpt: every line counts
        return [_Session(lines, lines, ended=" ".join(filter(_ENDED.match, lines)))]
    if not any(_SESSION in lines[place] for place in starts):  # -q: the counts stand alone, too
        starts = sorted({*starts, *(place for place, line in enumerate(lines) if _ENDED.match(line))})
    sections = [lines[start:end] for start, end in pairwise([*starts, len(lines)])]
    return _split_sessions(sections) or [_join_sections(sections)]


def _is_header(line: str) -> bool:
    """Return whether a line is a header; words may stand before one that divides sessions."""
    match = _HEADER.search(line)
    return match is not None and (match.start() == 0 or _SESSION in match[1] or _SUMMARY in match[1])


@dataclass(slots=True)
class _Splitter:
    """Reads section by section; a session that begins in captured output belongs to it, up to its end."""

    sessions: list[_Session] = field(default_factory=list)
    depth: int = 0
    captured: bool = False
    early: bool = False
    in_order: bool = True

    def read(self, section: list[str], *, ends: bool) -> None:
        if _SESSION in section[0] and self.captured:
            self.depth += 1
        elif _SESSION in section[0]:
            self.open(section, has_header=True)
        elif self.depth:
            self.depth -= ends
        elif self.is_open:
            self.go_on(section, ends=ends)
        else:
            self.in_order = self.in_order and not (ends or _SUMMARY in section[0])

    @property
    def is_open(self) -> bool:
        return bool(self.sessions) and not self.sessions[-1].ended

    def open(self, section: list[str], *, has_header: bool) -> None:
        self.sessions.append(_Session(section, opened=has_header))
        self.early = False

    def go_on(self, section: list[str], *, ends: bool) -> None:
        if ends:
            self.sessions[-1].ended, self.captured = section[0], False
        elif _SUMMARY in section[0]:
            self.sessions[-1].summary = self.sessions[-1].summary if self.early else section
            self.early = self.early or not self.captured
        else:
            self.captured = True


def _split_sessions(sections: list[list[str]]) -> list[_Session]:
    """Return the sessions that follow each other; none where the headers are not in order."""
    quiet = not any(_SESSION in section[0] for section in sections)
    splitter = _Splitter()
    for before, section in pairwise([[""], *sections]):
        ends = _is_end(section) and (_SUMMARY in before[0] or not (quiet and splitter.captured))
        if quiet and not ends and not splitter.is_open:
            splitter.open(section, has_header=False)
        splitter.read(section, ends=ends)
    return splitter.sessions if splitter.in_order and not splitter.depth else []


def _join_sections(sections: list[list[str]]) -> _Session:
    """Read a log as one session, from its first header on: its early summary, or its last one."""
    opening = [place for place, section in enumerate(sections) if _SESSION in section[0]]
    own = sections[next(iter(opening), 0) :]
    early, late = ([s for s in part if _SUMMARY in s[0]] for part in (own[:2], own[2:]))
    others = [line for section in sections if _SUMMARY in section[0] for line in section]
    ends = [section[0] for section in own if _is_end(section)]
    return _Session(own[0], [*early, *late[-1:], []][0], others, ends[-1] if ends else "", bool(opening))


def _is_end(section: list[str]) -> bool:
    match = _HEADER.search(section[0])
    return _ENDED.match(match[1] if match else section[0]) is not None


def _summary(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        match = _SUMMARY_LINE.match(line) or _GLUED_FAILURE.search(line)
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
            before = None if parts[0][:1] in "[(" else _SUBTEST_ID.search(parts[0])  # it may follow a description
            test = before or _SUBTEST_ID.search(parts[1])
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
