"""Report of RSpec's ``json`` formatter."""

from collections.abc import Iterator

from assay.harness.domain import Status
from assay.harness.reports import json_tree
from assay.harness.reports.base import Result, join_id

NAME = "rspec_json"

_STATUSES = {"passed": Status.PASSED, "failed": Status.FAILED, "pending": Status.SKIPPED}


def parse(text: str) -> dict[str, Status]:
    """Return ``place::groups::description`` to status; the place is an id such as ``./spec/a_spec.rb[1:2]``."""
    return json_tree.read_documents(text, "examples", _results)


def _results(report: json_tree.Object) -> Iterator[Result]:
    for example in json_tree.objects(report, "examples"):
        description, status = json_tree.get_text(example, "description"), json_tree.get_text(example, "status")
        if description and status in _STATUSES:
            groups = json_tree.get_text(example, "full_description").removesuffix(description).strip()
            place = json_tree.get_text(example, "id") or json_tree.get_text(example, "file_path")
            yield join_id(place, groups, description), _STATUSES[status]
