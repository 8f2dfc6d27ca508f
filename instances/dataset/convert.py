"""Converts instances to rows of any dialect; no loss goes unreported."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.harness.domain import UNKNOWN_TIME, Instance
from assay.harness.errors import DataError, UserError
from assay.harness.files import replace_file
from assay.harness.names import did_you_mean
from assay.instances.dataset.formats import FORMATS, DatasetFormat, write
from assay.instances.dataset.load import join_problems

LOSABLE = ("version", "hints", "environment", "log_format", "test_id", "quarantined", "stages", "assets")
"""Fields that a lossy conversion may leave out if rows cannot hold them."""


@dataclass(frozen=True, slots=True)
class Converted:
    row: dict[str, Any]
    losses: tuple[str, ...] = ()
    """One text for each: the field, and why it was left out."""


def find_format(name: str) -> DatasetFormat:
    """Return the dialect of that name; raises UserError if there is none."""
    if name in FORMATS:
        return FORMATS[name]
    raise UserError(f"unknown dialect {name!r}{did_you_mean(name.replace('_', '-'), FORMATS)}")


def convert(instance: Instance, dialect: DatasetFormat, *, lossy: bool = False) -> Converted:
    """Write an instance as a row; raises DataError for a field that rows of the dialect cannot hold.

    ``lossy`` leaves out what may be lost, and uses the dialect's own rule.
    """
    losses: dict[str, str] = {}
    while True:
        try:
            return Converted(write(dialect, instance), tuple(losses.values()))
        except DataError as error:
            lesser = _drop_field(instance, dialect, error) if lossy and error.field not in losses else None
            if lesser is None:
                raise
            losses[error.field] = f"{error.field} {error.problem}"
            instance = lesser


def convert_all(instances: Iterable[Instance], dialect: DatasetFormat, *, lossy: bool = False) -> list[Converted]:
    """Write instances as rows; raises UserError with the first few that cannot be written, and their number."""
    found, problems = [], []
    for instance in instances:
        try:
            found.append(convert(instance, dialect, lossy=lossy))
        except DataError as error:
            problems.append(error)
    if problems:
        raise join_problems(f"{len(problems)} instances cannot be written as rows of {dialect.NAME}:", problems)
    return found


def _drop_field(instance: Instance, dialect: DatasetFormat, error: DataError) -> Instance | None:
    if error.field == "rule":
        return instance.model_copy(update={"rule": dialect.RULES[0]})
    if error.field == "created_at":
        return instance.model_copy(update={"created_at": UNKNOWN_TIME})
    if error.field in LOSABLE:
        return instance.model_copy(update={error.field: Instance.model_fields[error.field].default})
    return None


def json_lines(rows: Iterable[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def table(rows: Iterable[dict[str, Any]]) -> str:
    """Return rows as CSV with a header; values that are no text are written as JSON."""
    rows = list(rows)
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(dict.fromkeys(name for row in rows for name in row)), restval="")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    return text.getvalue()


def _cell(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


WRITERS: dict[str, Callable[[Iterable[dict[str, Any]]], str]] = {
    ".jsonl": json_lines,
    ".json": lambda rows: json.dumps(list(rows), ensure_ascii=False, indent=1) + "\n",
    ".csv": table,
}


def save(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Write rows to a file in the format of its suffix; raises UserError for an unknown suffix."""
    if path.suffix not in WRITERS:
        raise UserError(f"{path}: rows can be written to {', '.join(WRITERS)}, native ones also to a folder")
    replace_file(path, WRITERS[path.suffix](rows).encode())
