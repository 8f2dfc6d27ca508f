"""A run as ``verdicts.csv``: one row for each instance, with a prediction or without."""

import csv
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from assay.harness.domain import Outcome
from assay.harness.exports.base import Problem, RunToExport
from assay.harness.exports.complaints import SubmittedFolder
from assay.harness.runs.report import Graded

NAME = "csv"
LEADERBOARD = False
REQUIRED: tuple[str, ...] = ()
FILE = "verdicts.csv"
COLUMNS = (
    *("instance_id", "repo", "language", "model", "outcome", "resolved", "rule", "environment", "unfixed", "broken"),
    *("expected", "test_seconds", "flags", "reason"),
)
MISSING = "no_prediction"  # word in the column ``outcome`` beside Assay's outcomes


def files(run: RunToExport) -> Iterator[tuple[str, bytes]]:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    models = {each.instance_id: each.model for each in run.predictions}
    for each in run.evaluations():
        table.writerow([_plain(cell) for cell in _row(each, models.get(each.instance.id, ""))])
    for name in run.missing:
        table.writerow([name, "", "", "", MISSING, "false", *[""] * (len(COLUMNS) - 6)])
    yield FILE, text.getvalue().encode(errors="replace")


def check(folder: Path) -> Iterator[Problem]:
    rows = list(csv.reader(io.StringIO(SubmittedFolder(folder, folder).text(FILE))))
    if not rows or tuple(rows[0]) != COLUMNS:
        yield Problem(f"{FILE}:1", "", f"is not the header; write {','.join(COLUMNS)}")
        return
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(COLUMNS):
            yield Problem(f"{FILE}:{number}", "", f"has {len(row)} cells; write {len(COLUMNS)}")
        elif row[4] not in {*Outcome, MISSING}:
            yield Problem(f"{FILE}:{number}", "outcome", f"is {row[4]!r}; write one of Assay's outcomes, or {MISSING}")
        elif row[5] != str(row[4] == Outcome.RESOLVED).lower():
            yield Problem(f"{FILE}:{number}", "resolved", f"is {row[5]!r}, but the outcome is {row[4]}")
    for name, count in Counter(row[0] for row in rows[1:] if row).items():
        if count > 1:
            yield Problem(FILE, name, f"is there {count} times; keep one row")


def _row(graded: Graded, model: str) -> list[str]:
    instance, verdict = graded.instance, graded.verdict
    return [
        instance.id,
        instance.repo,
        instance.language,
        model,
        verdict.outcome,
        str(verdict.resolved).lower(),
        verdict.rule,
        verdict.environment or "",
        str(len(verdict.unfixed)),
        str(len(verdict.broken)),
        str(len(instance.fail_to_pass) + len(instance.pass_to_pass)),
        f"{graded.evidence.timings.test:.3f}",
        " ".join(verdict.flags),
        verdict.reason,
    ]


def _plain(cell: str) -> str:
    """Return a cell that no spreadsheet takes for a formula: a patch has a say in reasons and names."""
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell
