"""What a report format is, and the little that all formats share."""

import re
from collections.abc import Iterable, Mapping
from typing import Protocol

from assay.harness.domain import Status

SEVERITY = (Status.MISSING, Status.PASSED, Status.XFAIL, Status.SKIPPED, Status.FAILED, Status.ERROR)
"""From best to worst: a test that is told twice (set-up, call, tear-down, retries) is as bad as its worst telling."""

_RANK = {status: rank for rank, status in enumerate(SEVERITY)}
_LONGEST_LINE = 10_000
"""Cut there: no test's name is longer, and patterns stay quick on whatever a test prints."""

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class ReportFormat(Protocol):
    """A module that reads one report format."""

    NAME: str

    def parse(self, text: str) -> dict[str, Status]:
        """Return every test that the text gives positive evidence for; arbitrary text gives an empty dict."""
        ...


def worst(told: Iterable[tuple[str, Status]]) -> dict[str, Status]:
    """Collect (test, status) pairs, keeping each test's worst status."""
    tests: dict[str, Status] = {}
    for name, status in told:
        if name not in tests or _RANK[status] > _RANK[tests[name]]:
            tests[name] = status
    return tests


def by_function(tests: Mapping[str, Status]) -> dict[str, Status]:
    """Rename node ids to bare function names, ``a.py::C::test_x[1]`` to ``test_x``; the worst of a clash wins."""
    return worst((node.partition("[")[0].rpartition("::")[2], status) for node, status in tests.items())


def plain_lines(text: str) -> list[str]:
    """Return the lines of a terminal log without colours and trailing blanks."""
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    # Not splitlines(): it also splits at characters that test ids may hold, such as \x1c or \u2028.
    return [line[:_LONGEST_LINE].rstrip() for line in text.split("\n")]
