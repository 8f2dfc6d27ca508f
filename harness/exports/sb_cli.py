"""Predictions as sb-cli submits them: ``preds.json``, for ``sb-cli submit <subset> <split> --predictions_path``."""

from collections.abc import Iterator
from pathlib import Path

from assay.harness.exports.base import Problem, RunToExport
from assay.harness.exports.complaints import SubmittedFolder, row_problems
from assay.harness.exports.submission import json_text, prediction_rows

NAME = "sb-cli"
LEADERBOARD = True
REQUIRED: tuple[str, ...] = ()
FILE = "preds.json"
FIELDS = ("instance_id", "model_name_or_path", "model_patch")


def files(run: RunToExport) -> Iterator[tuple[str, bytes]]:
    yield FILE, json_text({row["instance_id"]: row for row in prediction_rows(run)})


def check(folder: Path) -> Iterator[Problem]:
    """Yield rows that sb-cli or its service refuse; raises DataError."""
    entry = SubmittedFolder(folder, folder)
    by_id = entry.json(FILE)
    rows = [row if isinstance(row, dict) else {} for row in by_id.values()]
    yield from row_problems(entry, FILE, rows, FIELDS)
    for name, row in by_id.items():
        if isinstance(row, dict) and row.get("instance_id", name) != name:
            yield entry.problem(FILE, name, f"has the row of {row['instance_id']}; write each row under its own id")
