"""Read JSON from untrusted text: a value of an unexpected type counts as absent."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from assay.harness.domain import Status
from assay.harness.reports.base import Result, worst

Object = Mapping[str, object]

_DECODER = json.JSONDecoder()
_FAILURES = 200  # lines that look like the start of an object and are none, after which reading a log stops
_VALUES = 2_000_000
"""Values of one document, about; a document with more is not read, since each takes dozens of bytes of memory."""
_ROOT = "/testbed/"
_LINE = re.compile(r"^\{[^\n]*", re.MULTILINE)


def read_documents(text: str, key: str, results: Callable[[Object], Iterable[Result]]) -> dict[str, Status]:
    """Read the report in a text, or in a log in which it starts on a new line.

    Only the outermost object of a report has ``key``. Of several reports, one can be the runner's: a test passes if all
    of them say so, and has its worst status otherwise.
    """
    reports = [worst(results(value)) for value in _documents(text) if key in value]
    tests = worst(each for report in reports for each in report.items())
    return {
        test: status
        for test, status in tests.items()
        if status is not Status.PASSED or all(test in report for report in reports)
    }


def document_parser(key: str) -> Callable[[Callable[[Object], Iterable[Result]]], Callable[[str], dict[str, Status]]]:
    """Make a format's ``parse`` from a function that yields the results in a report; see ``read_documents``."""
    return lambda results: lambda text: read_documents(text, key, results)


def event_parser(results: Callable[[Iterator[Object]], Iterable[Result]]) -> Callable[[str], dict[str, Status]]:
    """Make a format's ``parse`` from a function that yields the results in objects, one a line."""
    return lambda text: worst(results(lines(text)))


def _documents(text: str) -> list[Object]:
    """Return the objects that start on a new line, or on the line on which another ends.

    None at all if too many places only look like one.
    """
    found: list[Object] = []
    first = len(text) - len(text.lstrip())
    place, failures, rest = first if text.startswith("{", first) else text.find("\n{") + 1, 0, 0
    while text.startswith("{", place):
        value, end = _decode(text, place)
        found.append(value)
        failures += not value
        if failures > _FAILURES:
            return []
        rest = _line_end(text, end) if value else rest
        here = text.find("{", end if value else place + 1, rest)
        after = text.find("\n{", end)
        place = here if here >= 0 else after + 1 if after >= 0 else len(text)
    return found


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return end if end >= 0 else len(text)


def lines(text: str) -> Iterator[Object]:
    """Yield the objects of a text with one object per line; other lines are ignored."""
    for line in _LINE.finditer(text):
        if value := _decode(line[0], 0)[0]:
            yield value


def objects(value: Object, key: str) -> Iterator[Object]:
    items = value.get(key)
    if isinstance(items, list):
        yield from (item for item in items if isinstance(item, dict))


def get_text(value: Object, key: str) -> str:
    """Return a string of an object; empty if there is none."""
    found = value.get(key)
    return found if isinstance(found, str) else ""


def get_texts(value: Object, key: str) -> tuple[str, ...]:
    items = value.get(key)
    return tuple(item for item in items if isinstance(item, str)) if isinstance(items, list) else ()


def get_path(value: Object, key: str) -> str:
    """Return a path of an object, relative to the tree in the container."""
    return get_text(value, key).removeprefix("file://").removeprefix(_ROOT)


def is_too_large(text: str, start: int = 0) -> bool:
    """Return whether a document would take far more memory than its text."""
    return len(text) - start > _VALUES and sum(text.count(mark, start) for mark in "[{,") > _VALUES


def _decode(text: str, start: int) -> tuple[Object, int]:
    """Return the object that starts at a position, and its end; an empty one if there is none."""
    if is_too_large(text, start):
        return {}, start
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return {}, start
    return (value, end) if isinstance(value, dict) else ({}, start)
