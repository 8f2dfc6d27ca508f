"""Submissions to multi-swe-bench/experiments, one for each language: predictions, reports and results.

final_report.json                              of the whole run, as multi_swe_bench.harness.gen_report writes it
evaluation/<language>/verified/<YYYYMMDD>_<system>/
    all_preds.jsonl  metadata.yaml  README.md  trajs/<id>.*  results/results.json
    logs/<org>/<repo>/evals/pr-<n>/{fix.patch, fix-patch-run.log, report.json}
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.harness.benchmarks.multi_swe_bench.rule import RESULTS, explain_invalid, labels, results
from assay.harness.domain import GRADED, Instance, Outcome, Stages
from assay.harness.errors import UserError
from assay.harness.exports.base import Problem, RunToExport
from assay.harness.exports.complaints import (
    SubmittedFolder,
    collect_ids,
    collect_patches,
    entries,
    field_problems,
    folder_problems,
    readme_problems,
    row_problems,
    same_problems,
    size_problems,
    trajectory_problems,
)
from assay.harness.exports.submission import (
    folder_name,
    json_text,
    lines,
    prediction_rows,
    readme,
    refuse_other_benchmarks,
    yaml_text,
)
from assay.harness.files import read_regular
from assay.harness.runs.report import Graded, RunReport

NAME = "multi-swe-bench"
LEADERBOARD = True
REQUIRED: tuple[str, ...] = ("name", "site", "os_system")
GROUPS = ("submitted", "completed", "incomplete", "resolved", "unresolved", "empty_patch", "error")
FOLDERS = {"typescript": "ts", "javascript": "js", "cpp": "c++"}
SIZES = {"java": 128, "ts": 224, "js": 356, "go": 428, "rust": 239, "c": 128, "c++": 129}
"""Instances of each language; 1632 in all."""
METADATA = {"name": str, "site": str, "oss": bool}
FIELDS = ("instance_id", "model_name_or_path", "model_patch")

_ID = re.compile(r"([^/]+?)__([^/]+)-(\d+)")


def files(run: RunToExport) -> Iterator[tuple[str, bytes]]:
    """Yield the submissions and the final report; raises UserError for an instance of another benchmark."""
    outcomes: dict[str, Outcome] = {}
    places: dict[str, str] = {}
    about: dict[str, dict[str, tuple[str, int]]] = {}
    for each in run.evaluations():
        name, language = each.instance.id, FOLDERS.get(each.instance.language, each.instance.language)
        folder = f"evaluation/{language}/verified/{folder_name(run)}"
        outcomes[name], places[name] = each.verdict.outcome, folder
        about.setdefault(folder, {})[name] = (each.instance.repo, each.instance.created_at.year)
        yield from instance_files(run, each, f"{folder}/logs")
    yield "final_report.json", json_text(_final(run.report))
    rows = prediction_rows(run)
    for folder, instances in about.items():
        own = [row for row in rows if places.get(row["instance_id"]) == folder]
        yield f"{folder}/all_preds.jsonl", lines(own)
        yield f"{folder}/metadata.yaml", yaml_text(_metadata(run))
        resolved = {name for name in instances if outcomes[name] is Outcome.RESOLVED}
        repos = {name.rpartition("-")[0] for name in instances}
        missing = [name for name in run.missing if len(about) < 2 or name.rpartition("-")[0] in repos]
        yield (
            f"{folder}/results/results.json",
            json_text(_results({name: outcomes[name] for name in instances}, missing)),
        )
        yield f"{folder}/README.md", readme(run, instances, resolved=resolved)
    for name, path in run.trajectories.items():
        if name in places:
            yield f"{places[name]}/trajs/{name}{path.suffix or '.txt'}", read_regular(path)


def get_number(instance: Instance) -> int:
    """Return the number of the pull request; 0 if neither the instance's row nor its id has it."""
    columns = dict(instance.origin.columns) if instance.origin else {}
    digits = re.search(r"-(\d+)$", instance.id)
    number = json.loads(columns.get("number", "0"))
    return int(number) or (int(digits[1]) if digits else 0)


def check(folder: Path) -> Iterator[Problem]:
    """Yield the faults that the leaderboard's script or its maintainers would stumble over; raises DataError."""
    for entry in entries(folder, "evaluation/*/*/*", "all_preds.jsonl"):
        rows = entry.rows("all_preds.jsonl")
        found = entry.json("results/results.json")
        language = entry.folder.resolve().parent.parent.name
        yield from folder_problems(entry)
        yield from row_problems(entry, "all_preds.jsonl", rows, FIELDS)
        yield from size_problems(entry, "all_preds.jsonl", rows, collect_ids(found, "incomplete_ids"), SIZES, language)
        metadata = entry.fields("metadata.yaml")
        yield from field_problems(entry, "metadata.yaml", metadata, METADATA)
        if metadata.get("verified") is not False:
            yield entry.problem("metadata.yaml", "verified", "is the maintainers' to set; write false")
        yield from readme_problems(entry)
        patches = collect_patches(rows)
        yield from trajectory_problems(entry, patches)
        yield from _result_problems(entry, found, patches)


def _result_problems(entry: SubmittedFolder, found: Mapping[str, Any], patches: Mapping[str, str]) -> Iterator[Problem]:
    """Compare results.json with the logs: a resolved instance has a valid report of just that patch."""
    if not isinstance(found.get("resolved"), list):
        yield entry.problem("results/results.json", "resolved", "is no list of ids; the leaderboard counts it")
        return
    valid, resolved = set(), collect_ids(found, "resolved")
    for name in resolved:
        match = _ID.fullmatch(name)
        file = f"logs/{match[1]}/{match[2]}/evals/pr-{match[3]}" if match else f"logs/{name}"
        if not (entry.folder / file / "report.json").is_file():
            yield entry.problem(f"{file}/report.json", name, "is missing, although it is resolved; evaluate it")
            valid.add(name)
            continue
        if entry.json(f"{file}/report.json").get("valid") is True:
            valid.add(name)
        patch = entry.folder / file / "fix.patch"
        text = patch.read_text(encoding="utf-8", errors="replace") if patch.is_file() else ""
        if text.strip() != patches.get(name, "").strip():
            yield entry.problem(f"{file}/fix.patch", name, "is not all_preds.jsonl's patch; evaluate that one")
    yield from same_problems(entry, "results/results.json", "resolved", resolved, valid)


def instance_files(run: RunToExport, graded: Graded, folder: str) -> Iterator[tuple[str, bytes]]:
    org, repo = _repository(graded.instance)
    where = f"{folder}/{org}/{repo}/evals/pr-{get_number(graded.instance)}"
    yield f"{where}/fix.patch", run.patch(graded.instance.id)
    output = run.output(graded.instance.id)
    if output:
        yield f"{where}/fix-patch-run.log", output
    yield f"{where}/report.json", json_text(_pull_request(graded))


def _repository(instance: Instance) -> tuple[str, str]:
    refuse_other_benchmarks(instance, NAME, "; export it as swebench")
    org, _, repo = instance.repo.partition("/")
    if any(not re.fullmatch(r"[\w.-]+", part) or set(part) == {"."} for part in (org, repo)):
        raise UserError(f"{instance.id}: {instance.repo!r} is not the name of a repository (owner/name)")
    return org, repo


def _pull_request(graded: Graded) -> dict[str, Any]:
    """Return the row's first two stages, and this run as the third; an invalid one has no sets."""
    instance, verdict = graded.instance, graded.verdict
    tests = graded.tests if verdict.outcome in GRADED else {}
    stages = (instance.stages or Stages()).model_copy(update={"fix": tests})
    org, repo = _repository(instance)
    error = explain_invalid(stages) if tests else verdict.reason
    return {
        "org": org,
        "repo": repo,
        "number": get_number(instance),
        "valid": not error,
        "error_msg": error,
        **labels(Stages() if error else stages),
        **{field: results(getattr(stages, stage)) for stage, field in RESULTS.items()},
    }


def _metadata(run: RunToExport) -> dict[str, Any]:
    icon = {"orgIcon": run.metadata.logo} if run.metadata.logo else {}
    about = run.metadata
    return {"name": about.name, **icon, "oss": about.os_system, "site": about.site, "verified": False}


def _results(outcomes: Mapping[str, Outcome], missing: Sequence[str]) -> dict[str, Any]:
    """The leaderboard's script counts ``resolved``."""

    def ids(*wanted: Outcome) -> list[str]:
        return sorted(name for name, outcome in outcomes.items() if outcome in wanted)

    resolved, unresolved, empty = ids(Outcome.RESOLVED), ids(Outcome.UNRESOLVED), ids(Outcome.EMPTY_PATCH)
    completed = sorted([*resolved, *unresolved])
    errors = sorted({*outcomes} - {*completed, *empty})
    return {
        "total_instances": len(outcomes) + len(missing),
        "submitted_instances": len(outcomes),
        "completed_instances": len(completed),
        "resolved_instances": len(resolved),
        "unresolved_instances": len(unresolved),
        "empty_error_patch_instances": len(empty) + len(errors),
        "completed_ids": completed,
        "incomplete_ids": list(missing),
        "submitted_ids": sorted(outcomes),
        "resolved": resolved,
        "unresolved_ids": unresolved,
        "empty_error_patch_ids": sorted([*empty, *errors]),
    }


def _final(report: RunReport) -> dict[str, Any]:
    ids = {group: [_ID.sub(r"\1/\2:pr-\3", name) for name in getattr(report, f"{group}_ids")] for group in GROUPS}
    counts = {f"{group}_instances": len(members) for group, members in ids.items()}
    lists = {f"{group}_ids": members for group, members in ids.items()}
    return {"total_instances": report.total_instances, **counts, **lists}
