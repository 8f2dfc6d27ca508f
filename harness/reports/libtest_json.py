"""What Rust's libtest writes with ``--format json``, and nextest with ``--message-format libtest-json``."""

from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports import json_tree
from assay.harness.reports.base import worst

NAME = "libtest_json"

_ENDS = {"ok": Status.PASSED, "failed": Status.FAILED, "ignored": Status.SKIPPED}


def parse(text: str) -> dict[str, Status]:
    """Return test path to status; a test that starts and never ends is an error."""
    return worst(_told(json_tree.lines(text)))


def _told(events: Iterator[json_tree.Object]) -> Iterator[tuple[str, Status]]:
    running: dict[str, None] = {}
    for event in events:
        if json_tree.text_of(event, "type") != "test":
            continue
        full, happened = json_tree.text_of(event, "name"), json_tree.text_of(event, "event")
        name = _without_binary(full)
        if name and happened == "started":
            running[full] = None
        elif name and happened in _ENDS:
            running.pop(full, None)
            yield name, _ENDS[happened]
    yield from ((_without_binary(full), Status.ERROR) for full in running)


def _without_binary(name: str) -> str:
    """Drop the ``crate::binary$`` that nextest puts before a test's path."""
    return name.rpartition("$")[2]
