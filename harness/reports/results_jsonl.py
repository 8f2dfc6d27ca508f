"""Results as Assay's own adapters write them while tests run: ``{"names": [...], "status": "passed"}`` on each line.

Labels may use any of a test's names. A test with several results has the worst of them.
"""

from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports import json_tree
from assay.harness.reports.base import Result, join_id, worst

NAME = "results_jsonl"

_STATUSES = {status.value: status for status in Status if status is not Status.MISSING}


def parse(text: str) -> dict[str, Status]:
    return worst(_results(text))


def _results(text: str) -> Iterator[Result]:
    for line in json_tree.lines(text):
        status = _STATUSES.get(json_tree.get_text(line, "status"))
        if status:
            yield from ((join_id(name), status) for name in json_tree.get_texts(line, "names") if name)
