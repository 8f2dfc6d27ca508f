"""Reads data sets with one folder for each task: Assay's own, and the task repositories of SWE-bench 5.x."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.harness.errors import DataError, brief
from assay.harness.files import parse_json, parse_yaml, read_regular
from assay.instances.dataset.formats import assets, native
from assay.instances.dataset.formats.columns import mapping


@dataclass(frozen=True, slots=True)
class FolderLayout:
    """The file names of one kind of data set."""

    marker: str
    """File at the top that marks this kind."""
    files: Mapping[str, str]
    """Text files of a task, and the columns that they are."""
    required: tuple[str, ...] = ()
    """Columns that every ``task.yaml`` must have."""
    withheld: frozenset[str] = frozenset()
    """Splits that are never loaded."""


LAYOUTS = (
    FolderLayout(native.MARKER, native.FILES),
    FolderLayout(
        "sweb.yaml",
        {
            "problem_statement.md": "problem_statement",
            "hints.md": "hints_text",
            "gold.patch": "patch",
            "test.patch": "test_patch",
            "eval.sh": "eval_script",
        },
        required=("repo", "version", "base_commit", "split", "image", "log_parser", "eval_type"),
        withheld=frozenset({"deprecated"}),
    ),
)


ASSETS = ("assets", "test_assets")
"""Folders of a task with binary files of its tests, laid out like the repository."""


def find_layout(folder: Path) -> FolderLayout | None:
    """Return the layout of a folder, or None if it is no such data set."""
    return next((layout for layout in LAYOUTS if (folder / layout.marker).is_file()), None)


def settings(folder: Path, layout: FolderLayout) -> dict[str, Any]:
    """Return the content of the marker file; raises DataError if it is malformed."""
    top = _mapping(folder / layout.marker)
    if not isinstance(top.get("recipe"), dict | None):
        problem = f"is {brief(top['recipe'])}; write a mapping of fields to values"
        raise DataError(problem, file=str(folder / layout.marker), field="recipe")
    return top


def task_ids(folder: Path) -> list[str]:
    tasks = folder / "tasks"
    return sorted(task.parent.name for task in tasks.glob("*/task.yaml")) if tasks.is_dir() else []


def read_task(folder: Path, layout: FolderLayout, task_id: str, shared: Mapping[str, Any]) -> dict[str, Any]:
    """Return one task as a row; ``shared`` are fields of the recipe for all tasks of one language. Raises DataError."""
    task = folder / "tasks" / task_id
    row = _mapping(task / "task.yaml")
    inside = row.setdefault("instance_id", task_id)
    if inside != task_id:
        problem = f"is {inside!r} but the folder is named {task_id!r}; make them the same"
        raise DataError(problem, file=str(task / "task.yaml"), field="instance_id")
    for name, column in layout.files.items():
        if (task / name).is_file():
            row[column] = read_text(task / name)
    if (task / "tests.json").is_file():
        row |= _labels(task / "tests.json")
    for name in layout.required:
        if row.get(name) in (None, ""):
            problem = "is missing; every task of this layout needs it"
            raise DataError(problem, file=str(task / "task.yaml"), instance=task_id, field=name)
    _add_assets(row, task)
    if not isinstance(row.get("split"), str | None):
        problem = f"is {brief(row['split'])}; write the split's name"
        raise DataError(problem, file=str(task / "task.yaml"), instance=task_id, field="split")
    _add_recipe(row, shared)
    return row


def _add_recipe(row: dict[str, Any], shared: Mapping[str, Any]) -> None:
    """Add the shared fields to a row's recipe, if they are of its language; a malformed recipe stays as it is."""
    own = row.get("recipe")
    shared = shared if _language(shared) == _language(row) else {}
    if isinstance(own, dict) or (shared and own is None):
        row["recipe"] = {**shared, **(own or {})}


def _add_assets(row: dict[str, Any], task: Path) -> None:
    """Add the binary files beside a task to its column, in place of URLs that it may name for them."""
    found = {entry["path"]: entry for folder in ASSETS for entry in assets.list_files(task / folder)}
    if not found:
        return
    column = mapping(row, assets.COLUMN) if row.get(assets.COLUMN) else {}
    entries = column.get(assets.OF_TESTS) or []
    others = [entry for entry in entries if not (isinstance(entry, Mapping) and entry.get("path") in found)]
    row[assets.COLUMN] = {**column, assets.OF_TESTS: [*others, *found.values()]}


def _language(fields: Mapping[str, Any]) -> str:
    return str(fields.get("language", "python"))


def _mapping(path: Path) -> dict[str, Any]:
    value = parse_yaml(read_text(path), str(path))
    if not isinstance(value, dict | None):
        raise DataError("is not a mapping of names to values", file=str(path))
    return value or {}


def _labels(path: Path) -> dict[str, Any]:
    try:
        value = parse_json(read_text(path))
    except json.JSONDecodeError as error:
        raise DataError(f"is not JSON: {error.msg}", file=str(path), line=error.lineno) from None
    except ValueError as error:
        raise DataError(f"is not JSON of labels: {error}", file=str(path)) from None
    if not isinstance(value, dict):
        raise DataError("is not an object with the lists fail_to_pass and pass_to_pass", file=str(path))
    return value


def read_text(path: Path) -> str:
    """Return a file's text with its line ends unchanged, since they belong to a patch; raises DataError."""
    try:
        return read_regular(os.path.realpath(path)).decode("utf-8")  # a pipe would keep a command waiting
    except FileNotFoundError:
        raise DataError("is missing; every task needs it", file=str(path)) from None
    except UnicodeDecodeError as error:
        raise DataError(f"is not UTF-8 at byte {error.start}", file=str(path)) from None
