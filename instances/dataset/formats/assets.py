"""The column ``image_assets`` of SWE-bench Multimodal: binary files, as a JSON string or an object."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from assay.harness.domain import Asset
from assay.harness.errors import DataError, brief, field_error
from assay.instances.dataset.formats.columns import Row, mapping, row_id

COLUMN = "image_assets"
OF_TESTS = "test_patch"
GROUPS = ("problem_statement", "patch", OF_TESTS)
"""Keys of the column; only the tests' files that have a path belong in the tree."""


def read(row: Row) -> tuple[Asset, ...]:
    """Return the files that belong in the tree with the test patch.

    An entry is an object with ``path`` and ``url``, or a plain URL, which only a statement shows.
    """
    if row.get(COLUMN) in (None, ""):
        return ()
    column = mapping(row, COLUMN)
    entries = {group: _entries(row, column, group) for group in GROUPS}
    return tuple(_asset(row, entry) for entry in entries[OF_TESTS] if isinstance(entry, Mapping))


def write(assets: Iterable[Asset]) -> dict[str, Any]:
    written = [asset.model_dump(exclude_none=True) for asset in assets]
    return {group: written if group == OF_TESTS else [] for group in GROUPS}


def _entries(row: Row, column: Mapping[str, Any], group: str) -> list[Any]:
    entries = column.get(group) or []
    if not isinstance(entries, list) or not all(isinstance(entry, str | Mapping) for entry in entries):
        problem = f"is {brief(entries)}; write a list of URLs or of objects with path and url"
        raise DataError(problem, instance=row_id(row), field=f"{COLUMN}.{group}")
    return entries


def _asset(row: Row, entry: Mapping[str, Any]) -> Asset:
    try:
        return Asset(**entry)
    except ValidationError as error:
        wrong = field_error(error, instance=row_id(row))
        missing = wrong.problem.startswith("is missing")
        problem = "is missing; write where it belongs and where to fetch it" if missing else wrong.problem
        raise DataError(problem, instance=row_id(row), field=f"{COLUMN}.{OF_TESTS}.{wrong.field}") from None
