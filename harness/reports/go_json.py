"""Report of ``go test -json``: one event per line.

Only events of tests count; the output in them is never read. A test that starts and does not end was stopped by a
panic, an exit or a time-out. Ids are the names of tests without their package, as in labels.
"""

from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports import json_tree
from assay.harness.reports.base import Result

NAME = "go_json"

_ENDS = {"pass": Status.PASSED, "fail": Status.FAILED, "skip": Status.SKIPPED}


@json_tree.event_parser
def parse(events: Iterator[json_tree.Object]) -> Iterator[Result]:
    """Yield results by test name; a package that could not be built is an error under its import path."""
    running: dict[tuple[str, str], None] = {}
    for event in events:
        action, package, test = (json_tree.get_text(event, key) for key in ("Action", "Package", "Test"))
        if test and action == "run":
            running[package, test] = None
        elif test and action in _ENDS:
            running.pop((package, test), None)
            yield test, _ENDS[action]
        elif action == "fail" and package and event.get("FailedBuild"):
            yield package, Status.ERROR
    yield from ((test, Status.ERROR) for _, test in running)
