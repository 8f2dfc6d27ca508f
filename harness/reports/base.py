"""What a report format is, and the little that all formats share."""

import re
from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from assay.harness.domain import Status

SEVERITY = (Status.MISSING, Status.PASSED, Status.XFAIL, Status.SKIPPED, Status.FAILED, Status.ERROR)
"""From best to worst: a test that is told twice (set-up, call, tear-down, retries) is as bad as its worst telling."""

_RANK = {status: rank for rank, status in enumerate(SEVERITY)}
_LONGEST_LINE = 10_000
"""Cut there: no test's name is longer, and patterns stay quick on whatever a test prints."""

SEPARATOR = "::"
"""Between the parts of a test's full id."""

_INSIDE = ":\N{WORD JOINER}:"
"""Stands in a full id for the separator inside a part, such as the title ``a::b``."""

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class ReportFormat(Protocol):
    """A module that reads one report format."""

    NAME: str

    def parse(self, text: str) -> dict[str, Status]:
        """Return every test that the text gives positive evidence for; arbitrary text gives an empty dict."""
        ...


@runtime_checkable
class FailuresOnly(ReportFormat, Protocol):
    """A format whose logs may name failures only: with no test named, the suite itself has to show that it ran."""

    def suite_ran(self, text: str) -> bool:
        """Return whether the text shows that the suite ran to its end."""
        ...


def worst(told: Iterable[tuple[str, Status]]) -> dict[str, Status]:
    """Collect (test, status) pairs, keeping each test's worst status."""
    tests: dict[str, Status] = {}
    for name, status in told:
        if name not in tests or _RANK[status] > _RANK[tests[name]]:
            tests[name] = status
    return tests


def join_id(*parts: str) -> str:
    """Return the full id of a test from its parts, outermost first; empty parts fall away."""
    return SEPARATOR.join(part.replace(SEPARATOR, _INSIDE) for part in parts if part)


def parts_of(test: str) -> tuple[str, ...]:
    """Return the parts of a full id as they are."""
    return tuple(map(as_part, test.split(SEPARATOR)))


def as_part(text: str) -> str:
    """Return text of a full id as people write it."""
    return text.replace(_INSIDE, SEPARATOR)


def plain_lines(text: str) -> list[str]:
    """Return the lines of a terminal log without colours and trailing blanks."""
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    # Not splitlines(): it also splits at characters that test ids may hold, such as \x1c or \u2028.
    return [line[:_LONGEST_LINE].rstrip() for line in text.split("\n")]
