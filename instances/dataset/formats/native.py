"""Assay's own dialect: rows named like the fields of an instance, and a folder with one task a folder.

assay.yaml                    name of the data set; ``recipe``: what its tasks' recipes share
tasks/<id>/task.yaml          repo, version, created_at ...; ``recipe`` inline; ``derive`` in place of patches
tasks/<id>/tests.json         {"fail_to_pass": [...], "pass_to_pass": [...]}
tasks/<id>/stability.json     tests that repeated runs do not agree on, and which of them are quarantined
tasks/<id>/problem.md, hints.md, gold.patch, test.patch
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from assay.harness.domain import DatasetRef, Instance, Recipe, Rule
from assay.harness.errors import DataError, field_error
from assay.harness.files import replace_file
from assay.harness.grading.stability import Stability
from assay.instances.dataset.formats.columns import Row, build, moment, names, row_id, text

NAME = "native"
RULES: tuple[Rule, ...] = tuple(Rule)

MARKER = "assay.yaml"
"""The file that makes a folder a data set of this dialect."""

FILES = {
    "problem.md": "problem_statement",
    "hints.md": "hints",
    "gold.patch": "gold_patch",
    "test.patch": "test_patch",
}
"""Text file of a task to the column that it is."""

STABILITY = "stability.json"

COLUMNS = {"id": "instance_id"}


def matches(row: Row) -> bool:
    """Tell whether a row has a column that only this dialect has."""
    return any(name in row for name in ("gold_patch", "derive", "recipe"))


def id_of(row: Row) -> str:
    """Return the id that the row has."""
    return row_id(row)


def to_instance(row: Row, dataset: DatasetRef) -> Instance:
    """Read a row whose patches are there (``derive`` has been carried out)."""
    known = {"instance_id", "recipe", "dataset", "created_at", "fail_to_pass", "pass_to_pass"}
    return build(
        COLUMNS,
        **{key: value for key, value in row.items() if key not in known},
        id=text(row, "instance_id"),
        created_at=moment(row, "created_at"),
        fail_to_pass=names(row, "fail_to_pass"),
        pass_to_pass=names(row, "pass_to_pass"),
        dataset=dataset,
        **_recipe(row),
    )


def from_instance(instance: Instance) -> dict[str, Any]:
    """Write an instance as a row; nothing is lost."""
    row = instance.model_dump(mode="json", exclude={"id", "dataset"}, exclude_defaults=True)
    if isinstance(instance.environment, Recipe):
        row["recipe"] = row.pop("environment", {})
    return {"instance_id": instance.id, **row}


def write_labels(folder: Path, instance_id: str, fail_to_pass: Sequence[str], pass_to_pass: Sequence[str]) -> Path:
    """Write the labels of one task of a folder, sorted and whole or not at all; return the file's path.

    Raises:
        DataError: the folder has no such task.
    """
    labels = {"fail_to_pass": sorted(fail_to_pass), "pass_to_pass": sorted(pass_to_pass)}
    text = json.dumps(labels, indent=1, ensure_ascii=False) + "\n"
    return _write(_task(folder, instance_id) / "tests.json", text)


def write_stability(folder: Path, stability: Stability) -> Path:
    """Write which tests of one task of a folder are not stable; return the file's path.

    Raises:
        DataError: the folder has no such task.
    """
    text = stability.of_unstable_tests().model_dump_json(indent=1) + "\n"
    return _write(_task(folder, stability.instance_id) / STABILITY, text)


def read_stability(folder: Path, instance_ids: Iterable[str]) -> list[Stability]:
    """Read what a folder says on the stability of its tasks' tests; most tasks, and other data sets, say nothing.

    Raises:
        DataError: a file is no stability record.
    """
    paths = (folder / "tasks" / instance_id / STABILITY for instance_id in instance_ids)
    return [_read_stability(path) for path in paths if path.is_file()]


def _read_stability(path: Path) -> Stability:
    try:
        return Stability.model_validate_json(path.read_bytes())
    except ValidationError as error:
        wrong = field_error(error, instance=path.parent.name)
        raise DataError(wrong.problem, file=str(path), instance=wrong.instance, field=wrong.field) from None


def _task(folder: Path, instance_id: str) -> Path:
    task = folder / "tasks" / instance_id
    if not (task / "task.yaml").is_file():
        raise DataError("is no task of this data set", file=str(folder), instance=instance_id)
    return task


def _write(path: Path, text: str) -> Path:
    replace_file(path, text.encode())
    return path


def _recipe(row: Row) -> dict[str, Recipe]:
    """Return the environment that an inline recipe makes, if there is one."""
    recipe = row.get("recipe")
    if recipe is None:
        return {}
    if not isinstance(recipe, dict):
        raise DataError("is not a mapping", instance=text(row, "instance_id"), field="recipe")
    shared = {"repo": row.get("repo", ""), "language": row.get("language", "python")}
    try:
        return {"environment": Recipe(**{**shared, **recipe})}
    except ValidationError as error:
        wrong = field_error(error, instance=text(row, "instance_id"))
        raise DataError(wrong.problem, instance=wrong.instance, field=f"recipe.{wrong.field}") from None
