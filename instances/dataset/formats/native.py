"""Assay's own dialect: rows with the fields of an instance, and data sets with one folder for each task.

assay.yaml                    name of the data set; ``recipe``: fields that its tasks' recipes share
tasks/<id>/task.yaml          repo, version, created_at ...; ``recipe`` inline; ``derive`` in place of patches
tasks/<id>/tests.json         {"fail_to_pass": [...], "pass_to_pass": [...]}
tasks/<id>/stability.json     unstable tests, and which of them are quarantined
tasks/<id>/problem.md, hints.md, gold.patch, test.patch
<name>.jsonl                  rows of further instances, one a line (``compact``)
"""

import json
import shutil
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from assay.harness.domain import DatasetRef, Instance, Recipe, Rule
from assay.harness.errors import DataError, UserError, brief, field_error
from assay.harness.files import read_yaml, replace_file
from assay.harness.grading.stability import Stability
from assay.instances.dataset.formats import compact
from assay.instances.dataset.formats.columns import Row, build, moment, names, row_id, text

NAME = "native"
RULES: tuple[Rule, ...] = tuple(Rule)

MARKER = "assay.yaml"  # the file that marks a folder as such a data set

FILES = {"problem.md": "problem_statement", "hints.md": "hints", "gold.patch": "gold_patch", "test.patch": "test_patch"}
"""Text files of a task, and the columns that they are."""

STABILITY = "stability.json"

LABELS = ("fail_to_pass", "pass_to_pass")

COLUMNS = {"id": "instance_id"}
OWN = ("gold_patch", "derive", "recipe")
KNOWN = frozenset({*Instance.model_fields, "instance_id"})


def matches(row: Row) -> bool:
    return any(name in row for name in OWN) or (any(name in row for name in LABELS) and row.keys() <= KNOWN)


find_id = row_id


def to_instance(row: Row, dataset: DatasetRef) -> Instance:
    """Read a row; its ``derive`` must have been replaced by patches."""
    recipe = _recipe(row)
    known = {"instance_id", "recipe", "dataset", "created_at", "fail_to_pass", "pass_to_pass", *recipe}
    return build(
        COLUMNS,
        **{key: value for key, value in row.items() if key not in known},
        id=text(row, "instance_id"),
        created_at=moment(row, "created_at"),
        fail_to_pass=names(row, "fail_to_pass"),
        pass_to_pass=names(row, "pass_to_pass"),
        dataset=dataset,
        **recipe,
    )


def from_instance(instance: Instance) -> dict[str, Any]:
    row = instance.model_dump(mode="json", exclude={"id", "dataset", "lacking", "facts"}, exclude_defaults=True)
    if isinstance(instance.environment, Recipe):
        row["recipe"] = row.pop("environment", {})
    return {"instance_id": instance.id, **row}


def open_folder(folder: Path, name: str) -> None:
    """Make a data set of folders without tasks, or continue one of that name; raises UserError for anything else."""
    marker = folder / MARKER
    found = (read_yaml(marker) or {}).get("name") if marker.is_file() else None
    if found != name and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        held = f"the data set {found}" if found else "something else"
        raise UserError(f"{folder} holds {held}; name a folder that does not exist yet")
    _write(marker, _yaml({"name": name}))


def write_folder(folder: Path, name: str, instances: Iterable[Instance]) -> None:
    """Write instances as a data set in the folder format; raises as ``open_folder`` and ``write_task``."""
    open_folder(folder, name)
    for instance in instances:
        write_task(folder, instance)


def write_task(folder: Path, instance: Instance) -> Path:
    """Write an instance in place of the task of its id; return its folder. Raises DataError if text is no UTF-8."""
    task = folder / "tasks" / instance.id
    row = from_instance(instance)
    labels = {name: row.pop(name, []) for name in LABELS}
    texts = {name: row.pop(column) for name, column in FILES.items() if column in row}
    try:
        files = {name: text.encode() for name, text in texts.items()}
        files["tests.json"] = _json(labels).encode()
        files["task.yaml"] = _yaml(row).encode()  # the last one: without it a folder is no task
    except UnicodeEncodeError as error:
        raise DataError(f"cannot be written as UTF-8: {error.reason}", instance=instance.id) from None
    for name, content in files.items():
        replace_file(task / name, content)
    return task


def keep_tasks(folder: Path, instance_ids: Collection[str]) -> None:
    tasks = folder / "tasks"
    for task in tasks.iterdir() if tasks.is_dir() else ():
        if task.name not in instance_ids:
            shutil.rmtree(task)


def write_labels(folder: Path, instance_id: str, fail_to_pass: Sequence[str], pass_to_pass: Sequence[str]) -> Path:
    """Write the labels of a task, sorted; return the file, or the table. Raises DataError if there is no such task."""
    labels = {"fail_to_pass": sorted(fail_to_pass), "pass_to_pass": sorted(pass_to_pass)}
    if table := compact.write_labels(folder, instance_id, labels):
        return table
    return _write(_task(folder, instance_id) / "tests.json", _json(labels))


def write_stability(folder: Path, stability: Stability) -> Path:
    """Write the unstable tests of a task; return the file. Raises DataError if there is no such task."""
    text = stability.keep_unstable_tests().model_dump_json(indent=1) + "\n"
    if compact.has_row(folder, stability.instance_id):
        return _write(_stability_of_row(folder, stability.instance_id), text)
    return _write(_task(folder, stability.instance_id) / STABILITY, text)


def read_stability(folder: Path, instance_ids: Iterable[str]) -> list[Stability]:
    """Read the stability records of a folder's tasks; most have none. Raises DataError if a file is no record."""
    paths = (
        path
        for name in instance_ids
        for path in (folder / "tasks" / name / STABILITY, _stability_of_row(folder, name))
        if path.is_file()
    )
    return [_read_stability(path) for path in paths]


def _stability_of_row(folder: Path, instance_id: str) -> Path:
    return folder / "stability" / f"{instance_id}.json"


def _read_stability(path: Path) -> Stability:
    try:
        return Stability.model_validate_json(path.read_bytes())
    except ValidationError as error:
        wrong = field_error(error, instance=path.parent.name)
        raise DataError(wrong.problem, file=str(path), instance=wrong.instance, field=wrong.field) from None


def has_task(folder: Path, instance_id: str) -> bool:
    return (folder / "tasks" / instance_id / "task.yaml").is_file()


def _task(folder: Path, instance_id: str) -> Path:
    task = folder / "tasks" / instance_id
    if not has_task(folder, instance_id):
        raise DataError("is no task of this data set", file=str(folder), instance=instance_id)
    return task


def _json(value: object) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def _yaml(value: object) -> str:
    return str(yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=120))


def _write(path: Path, text: str) -> Path:
    replace_file(path, text.encode())
    return path


def _recipe(row: Row) -> dict[str, Recipe]:
    """Return a row's inline recipe as the environment, if it has one."""
    recipe = row.get("recipe")
    if recipe is None:
        return {}
    if not isinstance(recipe, dict) or not all(isinstance(name, str) for name in recipe):
        problem = f"is {brief(recipe)}; write a mapping of fields to values"
        raise DataError(problem, instance=text(row, "instance_id"), field="recipe")
    if row.get("environment") is not None:
        problem = "is there beside recipe; keep one of them"
        raise DataError(problem, instance=text(row, "instance_id"), field="environment")
    shared = {"repo": row.get("repo", ""), "language": row.get("language", "python")}
    try:
        return {"environment": Recipe(**{**shared, **recipe})}
    except ValidationError as error:
        wrong = field_error(error, instance=text(row, "instance_id"))
        raise DataError(wrong.problem, instance=wrong.instance, field=f"recipe.{wrong.field}") from None
