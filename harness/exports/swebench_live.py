"""A submission to SWE-bench-Live: predictions, and what its own evaluation writes.

    <YYYYMMDD>_<system>/
        preds.json  results.json  README.md  trajs/<id>.*
        <id>/report.json
        gold_patch_evaluated_instances.txt      ids that are fit here: the denominator

Tests may become invalid with time, so the benchmark allows as the denominator the instances whose gold patch passes on
the same machine at the same time. A run with ``--controls`` knows them.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from assay.harness.domain import FAILING, GRADED, PASSING, Outcome
from assay.harness.errors import UserError
from assay.harness.exports import complaints, submission
from assay.harness.exports.base import Problem, RunToExport
from assay.harness.exports.complaints import SubmittedFolder, collect_ids, same_problems
from assay.harness.reports import lookup
from assay.harness.runs.report import Graded

NAME = "swe-bench-live"
LEADERBOARD = True
REQUIRED: tuple[str, ...] = ("name",)
GROUPS = ("success", "failure", "empty_patch", "error", "incomplete")
FIT = "gold_patch_evaluated_instances.txt"


def files(run: RunToExport) -> Iterator[tuple[str, bytes]]:
    """Yield the submission; raises UserError without controls, or for an instance of another benchmark."""
    if run.report.unfit_reasons is None:
        raise UserError(
            f"{run.store.root} has no controls, so the denominator is not known; evaluate again with --controls"
        )
    folder = submission.folder_name(run)
    patches = {each.instance_id: {"model_patch": each.patch} for each in run.predictions}
    yield f"{folder}/preds.json", submission.json_text(patches)
    outcomes: dict[str, Outcome] = {}
    about: dict[str, tuple[str, int]] = {}
    for each in run.evaluations():
        name = each.instance.id
        outcomes[name] = each.verdict.outcome
        about[name] = (each.instance.repo, each.instance.created_at.year)
        if each.verdict.outcome in GRADED:
            yield f"{folder}/{name}/report.json", submission.json_text(_report(each))
    yield f"{folder}/results.json", submission.json_text(_results(run, outcomes))
    fit = [name for name in outcomes if name not in run.report.unfit_reasons]
    yield f"{folder}/{FIT}", "".join(f"{name}\n" for name in sorted(fit)).encode()
    resolved = {name for name, outcome in outcomes.items() if outcome is Outcome.RESOLVED}
    yield f"{folder}/README.md", submission.readme(run, about, resolved=resolved) + _rate(resolved, fit)
    yield from submission.trajectories(run, f"{folder}/trajs")


def check(folder: Path) -> Iterator[Problem]:
    """Yield parts that do not fit together in a submission; raises DataError."""
    for entry in complaints.entries(folder, "*", "preds.json"):
        preds, results = entry.json("preds.json"), entry.json("results.json")
        yield from complaints.folder_problems(entry)
        for name, row in preds.items():
            if not isinstance(row, dict) or not isinstance(row.get("model_patch"), str):
                yield entry.problem("preds.json", name, 'is no {"model_patch": "..."}; write the patch, or "" for none')
        yield from _count_problems(entry, results)
        wanted = [name for name, row in preds.items() if isinstance(row, dict) and row.get("model_patch")]
        yield from complaints.trajectory_problems(entry, wanted)
        reports = [name for name in wanted if (entry.folder / name / "report.json").is_file()]
        found = [name for name in reports if entry.json(f"{name}/report.json").get("resolved") is True]
        yield from same_problems(entry, "results.json", "success_ids", collect_ids(results, "success_ids"), found)
        yield from same_problems(entry, "results.json", "submitted_ids", collect_ids(results, "submitted_ids"), preds)
        yield from complaints.readme_problems(entry)
        if not entry.text(FIT).strip():
            yield entry.problem(FIT, "", "names no instance; the denominator is those whose gold patch passes here")


def _count_problems(entry: SubmittedFolder, results: Mapping[str, Any]) -> Iterator[Problem]:
    for group in ("submitted", *GROUPS):
        ids = results.get(f"{group}_ids")
        if not isinstance(ids, list):
            yield entry.problem("results.json", f"{group}_ids", "is no list of ids; write it")
        elif results.get(group) != len(ids):
            yield entry.problem("results.json", group, f"is {results.get(group)}, but there are {len(ids)} ids")


def _report(graded: Graded) -> dict[str, Any]:
    """A test that did not run is neither a success nor a failure."""
    instance, verdict = graded.instance, graded.verdict
    submission.refuse_other_benchmarks(instance, NAME)
    return {
        "instance_id": instance.id,
        "resolved": verdict.resolved,
        "PASS_TO_PASS": {
            "success": [test for test in instance.pass_to_pass if lookup(test, graded.tests) <= PASSING],
            "failure": [test for test in instance.pass_to_pass if test in verdict.broken],
        },
        "FAIL_TO_PASS": {
            "success": [test for test in instance.fail_to_pass if test not in verdict.unfixed],
            "failure": [test for test in instance.fail_to_pass if lookup(test, graded.tests) & FAILING],
        },
    }


def _results(run: RunToExport, outcomes: Mapping[str, Outcome]) -> dict[str, Any]:
    groups: dict[str, list[str]] = {name: [] for name in GROUPS}
    kinds = {Outcome.RESOLVED: "success", Outcome.UNRESOLVED: "failure", Outcome.EMPTY_PATCH: "empty_patch"}
    for name, outcome in sorted(outcomes.items()):
        groups[kinds.get(outcome, "error")].append(name)
    groups["incomplete"] = sorted({each.instance_id for each in run.predictions} - {*outcomes})
    groups = {"submitted": [each.instance_id for each in run.predictions], **groups}
    return {name: len(ids) for name, ids in groups.items()} | {f"{name}_ids": ids for name, ids in groups.items()}


def _rate(resolved: set[str], fit: list[str]) -> bytes:
    good = len(resolved & {*fit})
    share = f" ({100 * good / len(fit):.2f}%)" if fit else ""
    return f"\nOf the {len(fit)} instances whose gold patch passes here, {good} are resolved{share}.\n".encode()
