"""Rows that resemble SWE-bench's but ask for something else than a fix that tests show; they are refused by name."""

from typing import NamedTuple

from assay.instances.dataset.formats.columns import Row, row_error


class OtherTask(NamedTuple):
    """A benchmark whose rows have SWE-bench's columns and one of their own."""

    name: str
    asks_for: str


SWE_PERF = OtherTask("SWE-Perf", "a speed-up")
COLUMNS = {
    "prob_script": OtherTask("GSO", "a speed-up"),
    "duration_changes": SWE_PERF,
    "patch_functions": SWE_PERF,
    "reference_commit": OtherTask("Commit0", "a whole library"),
}
"""Columns that only such rows have."""


def refuse(row: Row) -> None:
    """Raise DataError if a row is of another task; a column that is empty says nothing."""
    for column, task in COLUMNS.items():
        if row.get(column) not in (None, "", [], {}):
            problem = f"is {task.name}'s, which asks for {task.asks_for}; Assay has no rule for that task"
            raise row_error(row, column, problem)
