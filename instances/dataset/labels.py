"""Other expectations on known instances (``--labels``): corrected labels, or stronger tests such as SWE-ABS's."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.harness.benchmarks import find_benchmark
from assay.harness.domain import DatasetRef, Instance
from assay.harness.errors import DataError, UserError
from assay.harness.sequences import keep_items
from assay.instances.dataset import rows
from assay.instances.dataset.formats.classic import COLUMNS
from assay.instances.dataset.formats.columns import Row, build, names, row_id, text

FIELDS = {"fail_to_pass": ("FAIL_TO_PASS", "fail_to_pass"), "pass_to_pass": ("PASS_TO_PASS", "pass_to_pass")}
"""Fields that every row of labels has, and the columns that they may be."""


@dataclass(frozen=True, slots=True)
class LabelsFile:
    name: str
    revision: str
    """Hash of the content."""
    by_id: dict[str, rows.PlacedRow]
    """Rows by lower-case instance id."""


def read_labels(path: Path) -> LabelsFile:
    """Read rows with an id, two lists and perhaps a test patch; raises UserError for no file, a wrong or second id."""
    if not path.is_file():
        raise UserError(f"{path}: no such file of labels")
    found: dict[str, rows.PlacedRow] = {}
    for row in rows.find_table(str(path), None).read():
        if isinstance(row, DataError):
            raise row
        name = row_id(row.value) if isinstance(row.value, dict) else ""
        if not name or name.lower() in found:
            problem = "is there twice; keep one row" if name else "is missing; every row of labels needs it"
            raise DataError(problem, file=row.file, line=row.line, instance=name, field="instance_id")
        found[name.lower()] = row
    return LabelsFile(path.name, hashlib.sha256(path.read_bytes()).hexdigest(), found)


def relabel(instances: Sequence[Instance], labels: LabelsFile) -> Sequence[Instance]:
    """Return instances with the labels of a file in place of their own; an instance that it does not name is unchanged.

    The data set then has another name and revision, so that no run and no report mixes the two. Raises UserError.
    """
    if labels.by_id.keys().isdisjoint(instance.id.lower() for instance in instances):
        first = next(iter(labels.by_id), "none at all")
        raise UserError(f"{labels.name} has labels of none of these instances; its first is of {first}")
    return keep_items(_relabel(each, labels) for each in instances)


def _relabel(instance: Instance, labels: LabelsFile) -> Instance:
    own = instance.dataset
    revision = hashlib.sha256(f"{own.revision} {labels.revision}".encode()).hexdigest()
    dataset = DatasetRef(name=f"{own.name} with labels {labels.name}", revision=revision)
    row = labels.by_id.get(instance.id.lower())
    if row is None:
        return instance.model_copy(update={"dataset": dataset})
    try:
        changes = _fields(instance, row.value)
        return build(COLUMNS, **{**dict(instance), **changes, "dataset": dataset, "quarantined": ()})
    except DataError as error:
        raise DataError(error.problem, file=row.file, line=row.line, instance=instance.id, field=error.field) from None


def _fields(instance: Instance, row: Row) -> dict[str, Any]:
    if find_benchmark(instance.rule).staged:
        problem = f"has labels that follow from three runs (rule {instance.rule}); they cannot be replaced"
        raise DataError(problem, instance=instance.id)
    found: dict[str, Any] = {
        field: names(row, next((each for each in columns if each in row), columns[0]))
        for field, columns in FIELDS.items()
    }
    if patch := text(row, "test_patch", required=False):
        found["test_patch"] = patch
    return found
