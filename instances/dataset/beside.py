"""Files beside a table of rows that belong to single rows: SWE-bench Pro's ``run_scripts/<instance id>/``."""

from pathlib import Path

from assay.harness.errors import DataError
from assay.instances.dataset.formats.columns import Row, row_id

FOLDERS = {"run_scripts": {"run_script.sh": "run_script", "parser.py": "parser"}}
"""Folders beside a table: in each the files of a row's own folder, and the columns that they are."""


def fill(row: Row, table: str) -> Row:
    """Add the columns of the files beside a table (a path) to a row that lacks them; raises DataError."""
    top = Path(table).parent
    found = {
        column: _text(top / folder / row_id(row) / name, row_id(row))
        for folder, files in FOLDERS.items()
        if (top / folder).is_dir() and Path(row_id(row)).name == row_id(row)
        for name, column in files.items()
        if (top / folder / row_id(row) / name).is_file()
    }
    return {**found, **row} if found else row


def _text(path: Path, instance_id: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"is not UTF-8 at byte {error.start}", file=str(path), instance=instance_id) from None
