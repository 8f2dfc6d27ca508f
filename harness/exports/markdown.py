"""A run as ``report.md``, for a pull request's comment or a job's summary."""

import re
from collections.abc import Iterator
from pathlib import Path

from assay.harness.exports.base import Problem, RunToExport
from assay.harness.exports.complaints import SubmittedFolder
from assay.harness.runs.report import Graded

NAME = "markdown"
LEADERBOARD = False
REQUIRED: tuple[str, ...] = ()
FILE = "report.md"
ROWS = 500  # instances listed at most: a comment on GitHub has at most 65,536 characters
_MARKS = re.compile(r"([\\`*_{}\[\]<>|#@!~])")


def files(run: RunToExport) -> Iterator[tuple[str, bytes]]:
    report = run.report
    graded = sorted(run.evaluations(), key=lambda each: (each.verdict.resolved, each.instance.id))
    total = len(graded) + len(run.missing)
    head = f"## {_plain(run.manifest.id)}: {report.resolved_instances} of {total} resolved"
    about = f"{_plain(run.manifest.model)} on {_plain(run.manifest.dataset.name)}, {run.manifest.started[:10]}"
    counts = ", ".join(f"{count} {_plain(name)}" for name, count in report.outcome_counts.items())
    parts = [head, f"{about}. {counts}."]
    if report.operational_instances is not None:
        good, fit = report.operational_resolved_instances, report.operational_instances
        parts.append(f"Of the {fit} instances that pass their controls, {good} are resolved.")
    if run.missing:
        more = f" and {len(run.missing) - 20} more" if len(run.missing) > 20 else ""
        parts.append(f"{len(run.missing)} without a prediction: {_plain(', '.join(run.missing[:20]))}{more}.")
    rows = [_row(each) for each in graded[:ROWS]]
    parts.append("\n".join(["| instance | outcome | reason |", "| --- | --- | --- |", *rows]))
    if len(graded) > ROWS:
        parts.append(f"{len(graded) - ROWS} more are in the run's verdicts.jsonl.")
    yield FILE, ("\n\n".join(parts) + "\n").encode(errors="replace")


def check(folder: Path) -> Iterator[Problem]:
    text = SubmittedFolder(folder, folder).text(FILE)
    if not text.strip():
        yield Problem(FILE, "", "is empty; export the run again")
    if len(text) > 65_536:
        yield Problem(FILE, "", f"has {len(text)} characters; a comment on GitHub takes 65536, a job's summary 1 MiB")


def _row(graded: Graded) -> str:
    verdict = graded.verdict
    reason = verdict.reason.strip().partition("\n")[0][:120]
    return f"| {_plain(verdict.instance_id)} | {_plain(verdict.outcome)} | {_plain(reason)} |"


def _plain(text: str) -> str:
    """Return a text that Markdown shows as it is: a patch has a say in reasons."""
    return _MARKS.sub(r"\\\1", " ".join(text.split()))
