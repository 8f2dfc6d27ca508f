"""What a row's own parser made of a run: ``{"parsed": {"tests": [{"name": "t", "status": "PASSED"}]}}`` in a log."""

from collections.abc import Iterator, Mapping

from assay.harness.domain import Status
from assay.harness.reports import json_tree
from assay.harness.reports.base import Result

NAME = "parsed_json"
KEY = "parsed"

_STATUSES = {each.name: each for each in (Status.PASSED, Status.FAILED, Status.ERROR, Status.SKIPPED)}


@json_tree.document_parser(KEY)
def parse(report: json_tree.Object) -> Iterator[Result]:
    """Yield results by test name; a test that is there twice has passed if it did once, as SWE-bench Pro counts."""
    tests: dict[str, Status] = {}
    parsed = report.get(KEY)
    for each in json_tree.objects(parsed, "tests") if isinstance(parsed, Mapping) else ():
        name, status = json_tree.get_text(each, "name"), _STATUSES.get(json_tree.get_text(each, "status"))
        if name and status and tests.get(name) is not Status.PASSED:
            tests[name] = status
    yield from tests.items()
