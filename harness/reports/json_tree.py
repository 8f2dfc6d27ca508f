"""Reading JSON that nobody vouches for: what is of another type than expected counts as absent."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping

from assay.harness.domain import Status
from assay.harness.reports.base import worst

Object = Mapping[str, object]

Told = tuple[str, Status]

_DECODER = json.JSONDecoder()
_FAILURES = 200
"""So many lines may look like the start of an object and be none, before a log is given up."""
_ROOT = "/testbed/"


def read_documents(text: str, key: str, told: Callable[[Object], Iterable[Told]]) -> dict[str, Status]:
    """Read the report in a text, which may be a log with other lines around it.

    Args:
        text: the report, or a log in which it starts on a line of its own.
        key: what only a report's outermost object has.
        told: gives the tests of a report.

    Returns:
        Test to status. Of several reports the last is the runner's; the others can only make things worse. A test
        that prints when its process ends can still come last: only a report in a file of its own is safe from that.
    """
    documents = [value for value in _documents(text) if key in value]
    last = list(told(documents[-1])) if documents else []
    others = (found for value in documents[:-1] for found in told(value) if found[1] is not Status.PASSED)
    return worst((*last, *others))


def _documents(text: str) -> list[Object]:
    """Return the objects that start on a line of their own; none at all if too many lines only look like one."""
    found: list[Object] = []
    first = len(text) - len(text.lstrip())
    place, failures = first if text.startswith("{", first) else text.find("\n{") + 1, 0
    while text.startswith("{", place):
        value, end = _decoded(text, place)
        found.append(value)
        failures += not value
        if failures > _FAILURES:
            return []
        after = text.find("\n{", end)
        place = after + 1 if after >= 0 else len(text)
    return found


def lines(text: str) -> Iterator[Object]:
    """Yield the objects of a text that has one a line; other lines are passed over."""
    for line in text.split("\n"):
        if line.startswith("{") and (value := _decoded(line, 0)[0]):
            yield value


def objects(value: Object, key: str) -> Iterator[Object]:
    """Yield the objects of a list in an object."""
    items = value.get(key)
    if isinstance(items, list):
        yield from (item for item in items if isinstance(item, dict))


def text_of(value: Object, key: str) -> str:
    """Return a text of an object; empty if there is none."""
    found = value.get(key)
    return found if isinstance(found, str) else ""


def texts_of(value: Object, key: str) -> tuple[str, ...]:
    """Return a list of texts of an object."""
    items = value.get(key)
    return tuple(item for item in items if isinstance(item, str)) if isinstance(items, list) else ()


def path_of(value: Object, key: str) -> str:
    """Return a path of an object, relative to where trees lie in a box."""
    return text_of(value, key).removeprefix("file://").removeprefix(_ROOT)


def _decoded(text: str, start: int) -> tuple[Object, int]:
    """Return the object that starts there and where it ends; an empty one if there is none."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return {}, start
    return (value, end) if isinstance(value, dict) else ({}, start)
