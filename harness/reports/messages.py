"""The messages of failed tests, where a report or a log has any. They inform; no verdict comes from them."""

import re
from collections.abc import Iterator

from assay.harness.reports import json_tree

_OF_MOCHA = re.compile(r"^  \d+\) (.+?):\n\n(.*?)(?=^  \d+\) |\Z)", re.MULTILINE | re.DOTALL)
_FRAME = re.compile(r"^ *(?:=== |--- |at .+\d\)?$|at .+ \(.+\)$)")
"""A line that says where something happened, or which test it is."""


def messages(report_format: str, report: str, log: str) -> Iterator[tuple[str, str]]:
    """Yield a failed test's name, with those of the suites around it, and a message, without frames of a stack.

    The formats are those of go test and of jest; where those have none, the log is read as mocha's.
    """
    read = {"go_json": _read_go, "jest_json": _read_jest}.get(report_format)
    found = [each for each in read(report) if each[1]] if read else []
    for name, message in found or _OF_MOCHA.findall(log):
        yield name, "\n".join(line for line in message.splitlines() if not _FRAME.match(line))


def _read_go(report: str) -> Iterator[tuple[str, str]]:
    for event in json_tree.lines(report):
        yield json_tree.get_text(event, "Test"), json_tree.get_text(event, "Output")


def _read_jest(report: str) -> Iterator[tuple[str, str]]:
    for document in json_tree.lines(report):
        for result in json_tree.objects(document, "testResults"):
            for case in json_tree.objects(result, "assertionResults"):
                name = " ".join((*json_tree.get_texts(case, "ancestorTitles"), json_tree.get_text(case, "title")))
                yield name, "\n".join(json_tree.get_texts(case, "failureMessages"))
