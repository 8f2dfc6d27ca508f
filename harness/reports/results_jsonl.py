"""Results as Assay's own adapters write them while tests run: ``{"names": [...], "status": "passed"}`` on each line.

Labels may use any of a test's names. A test with several results has the worst of them.
"""

from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports import json_tree
from assay.harness.reports.base import Result, join_id

NAME = "results_jsonl"

_STATUSES = {status.value: status for status in Status if status is not Status.MISSING}


@json_tree.event_parser
def parse(events: Iterator[json_tree.Object]) -> Iterator[Result]:
    for line in events:
        if status := _STATUSES.get(json_tree.get_text(line, "status")):
            yield from ((join_id(name), status) for name in json_tree.get_texts(line, "names") if name)
