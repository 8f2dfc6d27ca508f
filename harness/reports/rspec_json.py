"""Report of RSpec's ``json`` formatter."""

from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports import json_tree
from assay.harness.reports.base import Result, join_id

NAME = "rspec_json"

_STATUSES = {"passed": Status.PASSED, "failed": Status.FAILED, "pending": Status.SKIPPED}


@json_tree.document_parser("examples")
def parse(report: json_tree.Object) -> Iterator[Result]:
    """Yield results by ``place::groups::description``; the place is an id such as ``./spec/a_spec.rb[1:2]``."""
    for example in json_tree.objects(report, "examples"):
        description, status = json_tree.get_text(example, "description"), json_tree.get_text(example, "status")
        if description and status in _STATUSES:
            groups = json_tree.get_text(example, "full_description").removesuffix(description).strip()
            place = json_tree.get_text(example, "id") or json_tree.get_text(example, "file_path")
            yield join_id(place, groups, description), _STATUSES[status]
