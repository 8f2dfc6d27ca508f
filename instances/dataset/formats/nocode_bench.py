"""NoCode-bench rows: classic columns, but the fix is ``feature_patch`` and the issue a change of the documentation."""

from collections.abc import Mapping
from typing import Any

from assay.harness.domain import DatasetRef, Instance, Rule
from assay.harness.errors import brief
from assay.instances.dataset.formats import columns
from assay.instances.dataset.formats.classic import CLASSIC, classic_fields, classic_row
from assay.instances.dataset.formats.classic import COLUMNS as CLASSIC_COLUMNS
from assay.instances.dataset.formats.columns import Row, row_error, row_id
from assay.instances.dataset.formats.languages import find_language
from assay.instances.dataset.formats.log_parsers import find_python_parser

NAME = "nocode-bench"
RULES: tuple[Rule, ...] = (Rule.NOCODE_BENCH,)
RENAMED = {"patch": "feature_patch", "FAIL_TO_PASS": "FAIL2PASS", "PASS_TO_PASS": "PASS2PASS"}
"""Columns that other dialects call otherwise."""
COLUMNS = {field: RENAMED.get(name, name) for field, name in CLASSIC_COLUMNS.items()}
DOCUMENTS = ("mask_doc_diff", "mask_doc_changes")
"""Columns of the documentation's change without what gives the fix away: a text, or objects with ``metadata``."""
HELD = (CLASSIC - RENAMED.keys() - {"problem_statement"}) | set(RENAMED.values())

matches = columns.make_matcher(*RENAMED.values())
find_id = row_id


def to_instance(row: Row, dataset: DatasetRef) -> Instance:
    """Read a row; without a statement, the change of the documentation is the issue."""
    fields = classic_fields({**row, "problem_statement": _statement(row)}, COLUMNS, with_time=False)
    parser = find_python_parser(fields["repo"])
    return columns.build(
        COLUMNS,
        **fields,
        language=find_language(row, fields["gold_patch"], fields["test_patch"]),
        log_format=parser.log_format,
        test_id=parser.test_id,
        rule=RULES[0],
        origin=columns.origin(NAME, row, HELD),
        dataset=dataset,
    )


def from_instance(instance: Instance) -> dict[str, Any]:
    row = {RENAMED.get(name, name): value for name, value in classic_row(instance).items()}
    kept = columns.read_origin(instance, NAME)
    if kept:
        del row["problem_statement"]
    return {**row, **kept}


def _statement(row: Row) -> str:
    if given := columns.text(row, "problem_statement", required=False):
        return given
    return next((_documents(row, column) for column in DOCUMENTS if row.get(column)), "")


def _documents(row: Row, column: str) -> str:
    value = row[column]
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or not all(isinstance(each, str | Mapping) for each in value):
        raise row_error(row, column, f"is {brief(value)}; write a text or a list of objects with metadata")
    return "\n".join(each if isinstance(each, str) else str(each.get("metadata", "")) for each in value)
