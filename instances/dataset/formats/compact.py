"""Tables of rows in a data set of folders: ``<name>.jsonl``, an instance a line, for rows that hold only facts.

The labels are in ``<name>.labels.gz`` beside it: a JSON object by instance id, of objects
with the two lists. To add a table is to copy its two files.
"""

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.harness.errors import DataError
from assay.harness.files import replace_file
from assay.instances.dataset.formats.columns import Row

SUFFIX, LABELS = ".jsonl", ".labels.gz"
HELD = ("fail_to_pass", "pass_to_pass")  # the columns that are in the second file
LabelLists = Mapping[str, Sequence[str]]  # the tests of each of these columns


def tables(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"*{SUFFIX}"))


def read_labels(table: Path) -> Mapping[str, LabelLists]:
    """Read the file beside a table, by instance id; no file is an empty one. Raises DataError if it is damaged."""
    path = _find_labels_file(table)
    if not path.is_file():
        return {}
    try:
        found = json.loads(gzip.decompress(path.read_bytes()))
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise DataError(f"is damaged: {error}; take it from where the table comes from", file=str(path)) from None
    if not isinstance(found, dict) or not all(isinstance(each, dict) for each in found.values()):
        raise DataError("is no object of labels by instance id", file=str(path))
    return found


def merge_labels(row: Row, labels: Mapping[str, LabelLists]) -> dict[str, Any]:
    """Return a row of a table with the labels beside it; those in the row itself count."""
    return {**labels.get(str(row.get("instance_id")), {}), **row}


def write_table(table: Path, rows: Sequence[Row]) -> None:
    """Write rows, which have an instance id and labels, and what is beside them; the same rows give the same bytes."""
    labels = {str(row["instance_id"]): {name: row[name] for name in HELD} for row in rows}
    lines = ({name: value for name, value in row.items() if name not in HELD} for row in rows)
    packed = gzip.compress(json.dumps(labels, ensure_ascii=False, separators=(",", ":")).encode(), 9, mtime=0)
    replace_file(_find_labels_file(table), packed)
    replace_file(table, "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines).encode())


def write_labels(folder: Path, instance_id: str, labels: LabelLists) -> Path | None:
    """Replace the labels of one row of a folder's tables; return the table, or None if no table has the row."""
    for table in tables(folder):
        rows = list(_rows(table))
        if any(row.get("instance_id") == instance_id for row in rows):
            write_table(table, [{**row, **labels} if row.get("instance_id") == instance_id else row for row in rows])
            return table
    return None


def has_row(folder: Path, instance_id: str) -> bool:
    return any(row.get("instance_id") == instance_id for table in tables(folder) for row in _rows(table))


def _rows(table: Path) -> Iterator[dict[str, Any]]:
    labels = read_labels(table)
    for line in table.read_text(encoding="utf-8").splitlines():
        yield {**dict.fromkeys(HELD, ()), **merge_labels(json.loads(line), labels)}


def _find_labels_file(table: Path) -> Path:
    return table.with_name(table.name.removesuffix(SUFFIX) + LABELS)
