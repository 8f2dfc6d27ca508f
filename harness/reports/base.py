"""The Protocol of a report format, and helpers that all formats share."""

import re
from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

from assay.harness.domain import Status

SEVERITY = (Status.MISSING, Status.PASSED, Status.XFAIL, Status.SKIPPED, Status.FAILED, Status.ERROR)
"""The best first: a test that is reported twice (set-up, call, tear-down, retries) has its worst status."""

_RANK = {status: rank for rank, status in enumerate(SEVERITY)}
_LONGEST_LINE = 10_000
"""Longer lines are cut: no name of a test is as long, and patterns stay fast on anything that a test prints."""
_MOST_LINES = 3_000_000  # more take hundreds of megabytes, and no runner writes as many

SEPARATOR = "::"  # between the parts of a test's full id

_INSIDE = ":\N{WORD JOINER}:"
"""Replaces the separator inside a part of a full id, such as the title ``a::b``."""

_ANSI = re.compile(r"\x1b(?:\[[0-9;:?]*[A-Za-z]|\][^\x07\x1b\n]*(?:\x07|\x1b\\))")  # colours, and links


Result = tuple[str, Status]  # a test's full id and its status


class ReportFormat(Protocol):
    """A module that reads one report format."""

    NAME: str

    def parse(self, text: str, /) -> dict[str, Status]:
        """Return every test with positive evidence in the text; arbitrary text gives an empty dict."""
        ...


@runtime_checkable
class FailuresOnly(ReportFormat, Protocol):
    """A format whose logs may name failures only: if they name none, something else has to show that the suite ran."""

    def suite_ran(self, text: str) -> bool:
        """Return whether the text shows that the suite ran to its end."""
        ...


@runtime_checkable
class PartlySeen(ReportFormat, Protocol):
    """A format of whose tests the log parsers of SWE-rebench V2 overlook some; by its rule no other test may pass."""

    def overlooked(self, text: str) -> frozenset[str]:
        """Return the full ids of the tests of a log that those parsers overlook."""
        ...


def worst(results: Iterable[Result]) -> dict[str, Status]:
    """Collect results, keeping the worst status of each test."""
    tests: dict[str, Status] = {}
    for name, status in results:
        if name not in tests or _RANK[status] > _RANK[tests[name]]:
            tests[name] = status
    return tests


def merge_worst(several: Sequence[dict[str, Status]]) -> dict[str, Status]:
    if len(several) == 1:
        return several[0]
    return worst(result for tests in several for result in tests.items())


def join_id(*parts: str) -> str:
    """Return the full id of a test from its parts, outermost first; empty parts, and blanks around one, are dropped."""
    return SEPARATOR.join(part.replace(SEPARATOR, _INSIDE) for part in (each.strip(" ") for each in parts) if part)


def split_id(test: str) -> tuple[str, ...]:
    """Split a full id into its parts, with inner separators restored."""
    return tuple(map(restore_separators, test.split(SEPARATOR)))


def has_inner_separator(test: str) -> bool:
    return _INSIDE in test


def restore_separators(text: str) -> str:
    return text.replace(_INSIDE, SEPARATOR)


def plain_lines(text: str) -> list[str]:
    """Return the lines of a terminal log without colours and trailing blanks; none if they are millions."""
    if text.count("\n") > _MOST_LINES:
        return []
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    # Not splitlines(): it also splits at characters that test ids may contain, such as \x1c or \u2028.
    return [line[:_LONGEST_LINE].rstrip() for line in text.split("\n")]
