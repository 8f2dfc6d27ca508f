"""Assay's own dialect: rows named like the fields of an instance, and a folder with one task a folder.

assay.yaml                    name of the data set; ``recipe``: what its tasks' recipes share
tasks/<id>/task.yaml          repo, version, created_at ...; ``recipe`` inline; ``derive`` in place of patches
tasks/<id>/tests.json         {"fail_to_pass": [...], "pass_to_pass": [...]}
tasks/<id>/problem.md, hints.md, gold.patch, test.patch
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from assay.harness.domain import DatasetRef, Instance, Recipe
from assay.harness.errors import DataError
from assay.instances.formats.base import Row, build, moment, names, text, wrong_field

NAME = "native"

MARKER = "assay.yaml"
"""The file that makes a folder a data set of this dialect."""

FILES = {
    "problem.md": "problem_statement",
    "hints.md": "hints",
    "gold.patch": "gold_patch",
    "test.patch": "test_patch",
}
"""Text file of a task to the column that it is."""

COLUMNS = {"id": "instance_id"}


def matches(row: Row) -> bool:
    """Tell whether a row has a column that only this dialect has."""
    return any(name in row for name in ("gold_patch", "derive", "recipe"))


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
    task = folder / "tasks" / instance_id
    if not (task / "task.yaml").is_file():
        raise DataError("is no task of this data set", file=str(folder), instance=instance_id)
    labels = {"fail_to_pass": sorted(fail_to_pass), "pass_to_pass": sorted(pass_to_pass)}
    part = task / f".tests.json.{os.getpid()}"
    part.write_text(json.dumps(labels, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return part.replace(task / "tests.json")


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
        wrong = wrong_field(error, text(row, "instance_id"), {})
        raise DataError(wrong.problem, instance=wrong.instance, field=f"recipe.{wrong.field}") from None
