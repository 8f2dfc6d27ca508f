"""Report of Rust's libtest (``--format json``) and of nextest (``--message-format libtest-json``)."""

from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports import json_tree
from assay.harness.reports.base import Result

NAME = "libtest_json"

_ENDS = {"ok": Status.PASSED, "failed": Status.FAILED, "ignored": Status.SKIPPED}


@json_tree.event_parser
def parse(events: Iterator[json_tree.Object]) -> Iterator[Result]:
    """Yield results by test path; a test that starts and never ends is an error."""
    running: dict[str, None] = {}
    for event in events:
        full, happened = json_tree.get_text(event, "name"), json_tree.get_text(event, "event")
        name = _drop_binary(full)
        if json_tree.get_text(event, "type") == "suite" and running:
            yield from ((_drop_binary(each), Status.SKIPPED) for each in _list_ignored(event, running))
        elif json_tree.get_text(event, "type") != "test" or not name:
            continue
        elif happened == "started":
            running[full] = None
        elif happened in _ENDS:
            running.pop(full, None)
            yield name, _ENDS[happened]
    yield from ((_drop_binary(full), Status.ERROR) for full in running)


def _list_ignored(suite: json_tree.Object, running: dict[str, None]) -> list[str]:
    """Yield as many of the tests without an end as the suite counts as ignored: nextest only reports their start."""
    count = suite.get("ignored")
    if not isinstance(count, int) or not len(running) <= count:
        return []
    ignored = list(running)
    running.clear()
    return ignored


def _drop_binary(name: str) -> str:
    """Drop the ``crate::binary$`` that nextest puts before the path of a test."""
    return name.rpartition("$")[2]
