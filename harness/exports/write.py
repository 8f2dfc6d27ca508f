"""An export as a whole: what may be written is written into a new folder, or not at all; and checked."""

import shutil
import uuid
from pathlib import Path

from assay.harness.domain import Environment
from assay.harness.errors import DataError, UserError
from assay.harness.exports.base import ExportFormat, Problem, RunToExport
from assay.harness.exports.complaints import group_problems
from assay.harness.exports.eligibility import refuse_ineligible
from assay.harness.exports.metadata import require


def write(chosen: ExportFormat, run: RunToExport, folder: Path, *, metadata_file: Path | None = None) -> list[str]:
    """Write a run into a folder that is missing or empty, and appears when every file is written; return the files.

    ``metadata_file`` is named in messages.

    Raises:
        UserError: the folder holds something, a needed field is missing, or the run may or can not be exported so.
        OSError: the folder cannot be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} is not empty; remove it or choose another folder with -o")
    if chosen.LEADERBOARD:
        refuse_ineligible(run)
    require(run.metadata, chosen.REQUIRED, chosen.NAME, metadata_file)
    new = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}.new")
    try:
        written = []
        for name, content in chosen.files(run):
            path = new / _inside(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            written.append(name)
        new.mkdir(parents=True, exist_ok=True)
        new.replace(folder)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return written


def problems(chosen: ExportFormat, folder: Path) -> list[Problem]:
    """Return the receiver's complaints about a folder; raises UserError if there is none."""
    if not folder.is_dir():
        raise UserError(f"{folder}: there is no such folder to check")
    found = []
    try:
        for problem in chosen.check(folder):
            found.append(problem)  # noqa: PERF402 - those before an error count
    except DataError as error:
        place = f"{error.file}:{error.line}" if error.line else error.file
        field = ", ".join(part for part in (error.instance, error.field) if part)
        found.append(Problem(place, field, error.problem))
    return found


def run_problems(chosen: ExportFormat, run: RunToExport) -> list[Problem]:
    """Return why a run is unfit for a leaderboard although its files are complete; nothing for other formats."""
    if not chosen.LEADERBOARD:
        return []
    report, file = run.report, str(run.store.root / "report.json")
    quarantined = [each.instance.id for each in run.evaluations() if each.instance.quarantined]
    unfinished = sorted({each.instance_id for each in run.predictions} - {*report.outcomes})
    groups = {
        "failed with its environment or engine, which would count as unresolved; evaluate it again": (
            report.infra_failure_ids
        ),
        "was graded without its quarantined tests, and the leaderboard counts them; leave out --stability": quarantined,
        "has no verdict; run the same evaluation again, which finishes it": unfinished,
    }
    found = [problem for remedy, ids in groups.items() for problem in group_problems(file, ids, remedy)]
    if Environment.PUBLISHED in report.environments and len(report.environments) > 1:
        mixed = ", ".join(f"{count} {name}" for name, count in report.environments.items())
        found.append(Problem(file, "environments", f"are mixed ({mixed}); evaluate all in one, with --environment"))
    return found


def _inside(name: str) -> str:
    parts = name.split("/")
    if any(part in {"", ".", ".."} or "\0" in part or "\\" in part for part in parts):
        raise UserError(f"{name!r} cannot be the path of an exported file")
    return name
