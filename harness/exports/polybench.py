"""A submission to SWE-PolyBench's branch ``submission``.

evaluation/<PB|PB500|PBVerified>/<YYYYMMDD>_<system>/
    all_preds.jsonl  metadata.yaml  README.md  trajs/<id>.*
    logs/{<id>_result.json, <id>_metrics.json}
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay.harness.domain import FAILING, GRADED, PASSING, ApplyStatus, Status
from assay.harness.exports import complaints, submission
from assay.harness.exports.base import Problem, RunToExport
from assay.harness.exports.complaints import Rows, SubmittedFolder
from assay.harness.metrics.retrieval import Scores, retrieval
from assay.harness.reports import lookup
from assay.harness.runs.report import Graded

NAME = "swe-polybench"
LEADERBOARD = True
REQUIRED: tuple[str, ...] = ("name", "split", "site", "os_system")
SIZES = {"PB": 2110, "PB500": 500, "PBVerified": 382}
FACTS = ("patch_applied", "generation", "with_logs", "all_f2p_passed", "no_p2p_failed", "passed_tests")
"""What holds of a result that is resolved."""
METADATA = {"name": str, "site": str, "oss": bool, "pass_rate": str}
RESULT = {
    "instance_id": str,
    "patch_applied": bool,
    "generation": bool,
    "with_logs": bool,
    "all_f2p_passed": bool,
    "no_p2p_failed": bool,
    "resolved": bool,
    "passed_tests": list,
    "failed_tests": list,
}

_RATE = re.compile(r"(\d{1,3}\.\d{1,2})% \((\d+)/(\d+)\)")


def files(run: RunToExport) -> Iterator[tuple[str, bytes]]:
    """Yield the submission; raises UserError for an unknown split, or an instance of another benchmark."""
    folder = submission.folder_of_split(run, SIZES, "SWE-PolyBench")
    yield f"{folder}/all_preds.jsonl", submission.lines(submission.prediction_rows(run))
    about: dict[str, tuple[str, int]] = {}
    resolved: set[str] = set()
    for each in run.evaluations():
        name = each.instance.id
        about[name] = (each.instance.repo, each.instance.created_at.year)
        resolved |= {name} if each.verdict.resolved else set()
        yield f"{folder}/logs/{name}_result.json", submission.json_text(_result(each))
        metrics = _metrics(each, run.patch(name).decode(errors="replace"))
        yield f"{folder}/logs/{name}_metrics.json", submission.json_text(metrics)
    total = len(about) + len(run.missing)
    yield f"{folder}/metadata.yaml", submission.yaml_text(_metadata(run, len(resolved), total))
    yield f"{folder}/README.md", submission.readme(run, about, resolved=resolved)
    yield from submission.trajectories(run, f"{folder}/trajs")


def check(folder: Path) -> Iterator[Problem]:
    """Yield parts that the submission guide asks for and that are not there; raises DataError."""
    for entry in complaints.entries(folder, "evaluation/*/*", "all_preds.jsonl"):
        rows = entry.rows("all_preds.jsonl")
        split = entry.folder.resolve().parent.name
        yield from complaints.folder_problems(entry)
        yield from complaints.row_problems(entry, "all_preds.jsonl", rows, ("instance_id", "model_patch"))
        yield from complaints.size_problems(entry, "all_preds.jsonl", rows, _find_ungenerated(entry), SIZES, split)
        yield from complaints.readme_problems(entry)
        yield from complaints.trajectory_problems(entry, complaints.collect_patches(rows))
        yield from _log_problems(entry, rows)
        yield from _rate_problems(entry, SIZES.get(split, len(rows)), len(rows))


def _result(graded: Graded) -> dict[str, Any]:
    """Render the result; no test is listed where none counts, so that the benchmark's rule agrees."""
    instance, verdict, status = graded.instance, graded.verdict, graded.evidence.apply.status
    submission.refuse_other_benchmarks(instance, NAME)
    counts = verdict.outcome in GRADED
    tests = _tests(graded) if counts else {}
    return {
        "instance_id": instance.id,
        "patch_applied": status is ApplyStatus.APPLIED,
        "generation": status is not ApplyStatus.EMPTY,
        "with_logs": counts,
        "all_f2p_passed": counts and not verdict.unfixed,
        "no_p2p_failed": counts and not verdict.broken,
        "resolved": verdict.resolved,
        "passed_tests": sorted(name for name, status in tests.items() if status in PASSING),
        "failed_tests": sorted(name for name, status in tests.items() if status in FAILING),
    }


def _tests(graded: Graded) -> dict[str, Status]:
    """Return all results under the labels' names where there is a label, and as the verdict counted them."""
    instance, verdict = graded.instance, graded.verdict
    tests = dict(graded.tests)
    for label in (*instance.fail_to_pass, *instance.pass_to_pass):
        found = lookup(label, tests)
        if label in {*verdict.unfixed, *verdict.broken}:
            tests[label] = Status.FAILED if found & FAILING else Status.MISSING
        elif label in instance.fail_to_pass or found <= PASSING:
            tests[label] = Status.PASSED
    return tests


def _metrics(graded: Graded, patch: str) -> dict[str, Any]:
    """Score the files found; nodes take the repository, and the benchmark leaves them out too."""
    found = retrieval(graded.instance.gold_patch, patch, None, graded.instance.language).files
    scores = found or Scores(precision=0.0, recall=0.0, f1=0.0)
    return {
        "instance_id": graded.instance.id,
        "file_retrieval_metrics": {"recall": scores.recall, "precision": scores.precision, "f1": scores.f1},
        "node_retrieval_metrics": None,
        "reference_nodes": [],
        "predicted_nodes": [],
    }


def _metadata(run: RunToExport, resolved: int, total: int) -> dict[str, Any]:
    about = run.metadata
    people = {"authors": about.authors} if about.authors else {}
    logo = {"logo": [about.logo]} if about.logo else {}
    rate = _pass_rate(resolved, total)
    return {"name": about.name, "oss": about.os_system, "site": about.site, "pass_rate": rate, **people, **logo}


def _find_ungenerated(entry: SubmittedFolder) -> list[str]:
    """Return the instances with a result of no generation, which need no prediction."""
    results = ((path, entry.json(f"logs/{path.name}")) for path in _result_files(entry))
    return [path.name.removesuffix("_result.json") for path, found in results if found.get("generation") is False]


def _result_files(entry: SubmittedFolder) -> list[Path]:
    return sorted((entry.folder / "logs").glob("*_result.json"))


def _log_problems(entry: SubmittedFolder, rows: Rows) -> Iterator[Problem]:
    names = {path.name.removesuffix("_result.json") for path in _result_files(entry)}
    ids = {str(row.get("instance_id")) for row in rows}
    yield from complaints.group(entry, "logs", sorted(ids - names), "has no <id>_result.json; evaluate it")
    for name in sorted(names):
        file = f"logs/{name}_result.json"
        found = entry.json(file)
        wrong = [field for field, kind in RESULT.items() if not isinstance(found.get(field), kind)]
        if wrong:
            yield entry.problem(file, ", ".join(wrong), "is missing or of the wrong kind; evaluate it again")
        elif found["resolved"] and not all(found[field] for field in FACTS):
            yield entry.problem(file, "resolved", "is true, but the other fields do not allow it; evaluate it again")
        elif found["resolved"] and name not in ids:
            yield entry.problem(file, name, "is resolved without a prediction; add it to all_preds.jsonl")


def _rate_problems(entry: SubmittedFolder, size: int, predictions: int) -> Iterator[Problem]:
    """Compare the pass rate with the logs; of the whole split or, as for one language of it, of the predictions."""
    metadata = entry.fields("metadata.yaml")
    yield from complaints.field_problems(entry, "metadata.yaml", metadata, METADATA)
    stated = metadata.get("pass_rate")
    if not isinstance(stated, str):
        return
    resolved = sum(entry.json(f"logs/{path.name}").get("resolved") is True for path in _result_files(entry))
    right = _pass_rate(resolved, size)
    match = _RATE.fullmatch(stated)
    if match is None:
        yield entry.problem("metadata.yaml", "pass_rate", f"is {stated!r}; write it as {right!r}")
        return
    share, counts, total = float(match[1]), int(match[2]), int(match[3])
    if counts != resolved or total not in {size, predictions} or abs(share - 100 * counts / max(total, 1)) > 0.05:
        yield entry.problem("metadata.yaml", "pass_rate", f"is {stated!r}, but the logs give {right!r}; write that")


def _pass_rate(resolved: int, total: int) -> str:
    return f"{100 * resolved / max(total, 1):.2f}% ({resolved}/{total})"
