"""Report of ``jest --json``, and of vitest's JSON reporter, which has the same form."""

from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports import json_tree
from assay.harness.reports.base import Result, join_id

NAME = "jest_json"

_STATUSES = {
    "passed": Status.PASSED,
    "failed": Status.FAILED,
    "pending": Status.SKIPPED,
    "skipped": Status.SKIPPED,
    "disabled": Status.SKIPPED,
    "todo": Status.SKIPPED,
    "focused": Status.PASSED,
}


@json_tree.document_parser("testResults")
def parse(report: json_tree.Object) -> Iterator[Result]:
    """Yield results by ``file::suite::title``; a file that could not be run is an error under its path."""
    for result in json_tree.objects(report, "testResults"):
        file = json_tree.get_path(result, "name")
        cases = json_tree.objects(result, "assertionResults")
        tests = [(_id(file, case), json_tree.get_text(case, "status")) for case in cases]
        yield from ((test, _STATUSES[status]) for test, status in tests if test and status in _STATUSES)
        if file and json_tree.get_text(result, "status") == "failed" and "failed" not in dict(tests).values():
            yield join_id(file), Status.ERROR


def _id(file: str, case: json_tree.Object) -> str:
    titles = (*json_tree.get_texts(case, "ancestorTitles"), json_tree.get_text(case, "title"))
    return join_id(file, *(title.strip() for title in titles))  # as in the logs that labels were made from
