"""An export as a whole: what may be written is written into a new folder, or not at all; and checked."""

import shutil
import uuid
from itertools import chain
from pathlib import Path

from assay.harness.benchmarks import find_benchmark
from assay.harness.domain import Environment, Rule
from assay.harness.errors import DataError, UserError
from assay.harness.exports.base import ExportFormat, Problem, RunToExport
from assay.harness.exports.complaints import group_problems
from assay.harness.exports.metadata import require
from assay.harness.grading.grade import STOPPED_EARLY
from assay.harness.runs.manifest import FAIL_FAST, LABELS, WORDS, RunKind


def write(chosen: ExportFormat, run: RunToExport, folder: Path, *, metadata_file: Path | None = None) -> list[str]:
    """Write a run into a folder that is missing or empty, and appears when every file is written; return the files.

    Secrets are taken out of each, except of patches and names of tests; ``run.redaction`` counts both.
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
        _ = run.predictions  # their patches stay as they are
        for name, content in chosen.files(run):
            path = new / _inside(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(run.redaction.content(content))
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


SUBMITTED = frozenset({RunKind.EVALUATE, RunKind.EVALUATE_SOLVED, RunKind.UNKNOWN})
"""Kinds of runs that evaluate somebody's patches; the others evaluate gold patches, or none."""
CONTROL_MODELS = frozenset({"gold", "null"})
"""Models of control runs, which Assay itself names; older versions did not record the kind."""


def refuse_ineligible(run: RunToExport) -> None:
    """Raise UserError for patches that are the answer, or made with part of it, other labels, or an early stop.

    The run's kind and a mark in its settings say so. They can be lost, e.g. with a copied predictions file, so the
    patches are looked at too: if every patch that there is equals its gold patch, they are the gold patches.
    """
    if reason := _find_reason(run):
        raise UserError(f"{run.store.root} is exported to no leaderboard: {reason}")


def _find_reason(run: RunToExport) -> str:
    about, benchmarks = run.manifest, [find_benchmark(Rule(name)) for name in run.report.rules]
    stopped_early = STOPPED_EARLY in chain(*run.report.flags.values())
    reasons = (
        (about.oracle, f"its solver was given the {about.oracle} of each instance"),
        (
            about.given.get(LABELS),
            f"its patches were graded by other labels than the data set's own ({about.dataset.name})",
        ),
        *((each.not_ranked, f"{each.not_ranked} (rule {each.name})") for each in benchmarks),
        (about.settings.get(FAIL_FAST) == "yes" or stopped_early, f"not all tests were run (--{FAIL_FAST})"),
        (about.kind not in SUBMITTED, f"it is {WORDS.get(about.kind)}"),
        (about.model in CONTROL_MODELS, f"it is a control run ({about.model} patches)"),
    )
    gold = "each of its patches is the gold patch, byte for byte"
    return next((reason for holds, reason in reasons if holds), "") or (gold if _has_gold_patches_alone(run) else "")


def _has_gold_patches_alone(run: RunToExport) -> bool:
    patches = [each for each in run.predictions if each.patch.strip()]
    return bool(patches) and all(_is_gold(run, each.instance_id, each.patch) for each in patches)


def _is_gold(run: RunToExport, instance_id: str, patch: str) -> bool:
    instance = run.store.load_instance(instance_id)
    return instance is not None and instance.gold_patch.strip() == patch.strip()
