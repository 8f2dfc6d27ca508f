"""Each column of each dialect dropped, emptied or of another type: the row is read, or one line names a column."""

from collections.abc import Iterator
from typing import Any

import pytest

from assay.harness.domain import Instance
from assay.harness.errors import DataError
from assay.instances.dataset.formats import FORMATS
from samples import DATASET, rows

DROPPED = object()
VALUES: list[Any] = [
    *(DROPPED, None, "", " ", "x", "x\ny", "[1]", '{"a": 1}', "\x00", "\ud800"),
    *([], ["x"], [1], [None], [["x"]], {}, {"a": 1}, 0, -1, 1.5, float("nan"), float("inf"), 10**30, True),
]
SIGNS = {"harbor": {"task_toml"}, "native": {"gold_patch"}, "swe-smith": {"image_name"}}
"""Columns without which a row is of no dialect, or is said to be a wrong row of another."""


def wrong_rows(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield rows with one wrong column, and that column."""
    for row in rows(name):
        for column in row:
            for value in VALUES:
                changed = row | {column: value}
                if value is DROPPED:
                    del changed[column]
                yield column, changed


def outcome(name: str, row: dict[str, Any]) -> Instance | DataError:
    try:
        FORMATS[name].find_id(row)
        return FORMATS[name].to_instance(row, DATASET)
    except DataError as error:
        return error


@pytest.mark.parametrize("name", FORMATS)
def test_a_wrong_value_is_named_in_one_line_and_makes_no_row_of_another_dialect(name: str) -> None:
    refused = []
    for column, row in wrong_rows(name):
        first = next((name for name, each in FORMATS.items() if each.matches(row)), "")
        assert first == name or column in SIGNS.get(name, ())
        found = outcome(name, row)
        if isinstance(found, DataError):
            refused.append(found)
    assert len(refused) > 100
    assert [str(error) for error in refused if not error.field or not str(error).isprintable()] == []
