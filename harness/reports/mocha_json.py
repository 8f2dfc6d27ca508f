"""Report of mocha's ``json`` reporter."""

from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports import json_tree
from assay.harness.reports.base import Result, join_id

NAME = "mocha_json"

_LISTS = {"passes": Status.PASSED, "pending": Status.SKIPPED, "failures": Status.FAILED}
_HOOK = '" hook'


@json_tree.document_parser("passes")
def parse(report: json_tree.Object) -> Iterator[Result]:
    """Yield results by ``file::suites::title``; mocha joins the titles of nested suites, so they are one part."""
    for key, status in _LISTS.items():
        for case in json_tree.objects(report, key):
            if title := json_tree.get_text(case, "title"):
                broken = status is Status.FAILED and title.startswith('"') and _HOOK in title
                suites = json_tree.get_text(case, "fullTitle").removesuffix(title).strip()
                test = join_id(json_tree.get_path(case, "file"), suites, title)
                yield test, Status.ERROR if broken else status
