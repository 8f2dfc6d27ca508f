"""SWE-smith rows: ``patch`` introduces a bug, so the gold patch is its reverse and the base tree has the bug.

The tests that show the bug are in the repository already, so there is no test patch. The name of a row's image is only
kept to be written back.
"""

from typing import Any

from assay.harness.domain import DatasetRef, Instance, PatchedCommit, Rule
from assay.harness.errors import DataError
from assay.instances.dataset.formats import columns
from assay.instances.dataset.formats.classic import CLASSIC
from assay.instances.dataset.formats.columns import Row, row_error, row_id
from assay.instances.dataset.formats.languages import find_language
from assay.instances.dataset.formats.reverse import IrreversibleError, reverse

NAME = "swe-smith"
RULES: tuple[Rule, ...] = (Rule.SWE_SMITH,)
COLUMNS = {"id": "instance_id", "fail_to_pass": "FAIL_TO_PASS", "pass_to_pass": "PASS_TO_PASS"}

HELD = CLASSIC - {"test_patch", "hints_text", "version"}


def matches(row: Row) -> bool:
    """Return whether a row names an image and has no test patch."""
    return "image_name" in row and "test_patch" not in row


find_id = row_id


def to_instance(row: Row, dataset: DatasetRef) -> Instance:
    """Read a row; its base tree is a commit with the bug on top."""
    bug = columns.text(row, "patch")
    try:
        gold = reverse(bug)
    except IrreversibleError as error:
        raise row_error(row, "patch", f"{error}; write it with git diff --binary --no-renames") from None
    return columns.build(
        COLUMNS,
        id=columns.text(row, "instance_id"),
        repo=columns.text(row, "repo"),
        base=PatchedCommit(commit=columns.commit(row, "base_commit"), patch=bug),
        language=find_language(row, bug),
        problem_statement=columns.text(row, "problem_statement", required=False),
        gold_patch=gold,
        test_patch="",
        fail_to_pass=columns.names(row, "FAIL_TO_PASS"),
        pass_to_pass=columns.names(row, "PASS_TO_PASS"),
        created_at=columns.moment(row, "created_at", required=False),
        rule=RULES[0],
        origin=columns.origin(NAME, row, HELD),
        dataset=dataset,
    )


def from_instance(instance: Instance) -> dict[str, Any]:
    """Write an instance as a row; raises DataError if its base tree is not a commit with a bug."""
    if instance.base is None:
        problem = "is missing: rows of this format add a bug to a commit"
        raise DataError(problem, instance=instance.id, field="base")
    return {
        "image_name": "",
        "instance_id": instance.id,
        "repo": instance.repo,
        "base_commit": instance.base.commit,
        "language": instance.language,
        "patch": instance.base.patch,
        "problem_statement": instance.problem_statement,
        "FAIL_TO_PASS": list(instance.fail_to_pass),
        "PASS_TO_PASS": list(instance.pass_to_pass),
        **columns.iso(instance),
        **columns.read_origin(instance, NAME),
    }
