"""Complaints of SWE-bench/experiments: its submission guide, its checklist, and what its scripts recompute."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from assay.harness.exports import complaints
from assay.harness.exports.base import Problem
from assay.harness.exports.complaints import Rows, SubmittedFolder, collect_ids, same_problems
from assay.harness.exports.recompute import Recomputation

SIZES = {"lite": 300, "verified": 500, "test": 2294, "multilingual": 300, "multimodal": 510, "bash-only": 500}
"""Instances of each split (multimodal: its test split)."""
INFO = {"name": str, "authors": str, "site": str, "report": str}
TAGS = {"model": list, "org": list, "os_model": bool, "os_system": bool}
PUBLISHED = "evaluate with --environment published, whose logs SWE-bench knows"
FIELDS = ("instance_id", "model_name_or_path", "model_patch")


def check(folder: Path) -> Iterator[Problem]:
    """Yield the faults that would keep a submission from being merged; raises DataError."""
    for entry in complaints.entries(folder, "evaluation/*/*", "all_preds.jsonl"):
        rows = entry.rows("all_preds.jsonl")
        results = entry.json("results/results.json")
        yield from complaints.folder_problems(entry)
        yield from complaints.row_problems(entry, "all_preds.jsonl", rows, FIELDS)
        named = collect_ids(results, "no_generation")
        yield from complaints.size_problems(
            entry, "all_preds.jsonl", rows, named, SIZES, entry.folder.resolve().parent.name
        )
        yield from _metadata_problems(entry)
        yield from complaints.readme_problems(entry)
        yield from complaints.trajectory_problems(entry, complaints.collect_patches(rows))
        yield from _log_problems(entry, rows, results)


def _metadata_problems(entry: SubmittedFolder) -> Iterator[Problem]:
    found = entry.fields("metadata.yaml")
    info, tags = (_section(found, name) for name in ("info", "tags"))
    yield from complaints.field_problems(entry, "metadata.yaml", info, INFO, "info.")
    yield from complaints.field_problems(entry, "metadata.yaml", tags, TAGS, "tags.")
    attempts = _section(tags, "system").get("attempts")
    if attempts not in ("1", "2+"):
        remedy = 'is not "1" or "2+"; write "2+" if the system chooses among several tries'
        yield entry.problem("metadata.yaml", "tags.system.attempts", remedy)
    if tags.get("checked") is not False:
        yield entry.problem("metadata.yaml", "tags.checked", "is the maintainers' to set; write false")


def _section(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = values.get(name)
    return found if isinstance(found, dict) else {}


def _log_problems(entry: SubmittedFolder, rows: Rows, results: Mapping[str, Any]) -> Iterator[Problem]:
    patches = complaints.collect_patches(rows)
    reports = {name: _report(entry, name) for name in patches}
    resolved = [name for name, report in reports.items() if report and report.get("resolved") is True]
    failed = [name for name, report in reports.items() if report and report.get("infra_failure")]
    yield from complaints.group(
        entry, "logs", failed, "the environment or the engine failed, not the patch; evaluate it again"
    )
    without = [name for name in patches if not (entry.folder / "logs" / name).is_dir()]
    yield from complaints.group(entry, "logs", without, "has no folder of logs; evaluate it")
    again = Recomputation()
    for name in resolved:
        yield from _check_resolved(entry, name, reports[name] or {}, patches[name])
        yield from _output_problems(entry, name, reports[name] or {}, again)
    yield from same_problems(entry, "results/results.json", "resolved", collect_ids(results, "resolved"), resolved)


def _report(entry: SubmittedFolder, name: str) -> dict[str, Any] | None:
    file = f"logs/{name}/report.json"
    if not (entry.folder / file).is_file():
        return None
    found = entry.json(file).get(name)
    return found if isinstance(found, dict) else {}


def _labels(report: Mapping[str, Any], group: str) -> tuple[list[str], list[str]]:
    status = _section(_section(report, "tests_status"), group)
    return collect_ids(status, "success"), collect_ids(status, "failure")


def _check_resolved(entry: SubmittedFolder, name: str, report: Mapping[str, Any], patch: str) -> Iterator[Problem]:
    applied = entry.folder / "logs" / name / "patch.diff"
    if not applied.is_file() or applied.read_text(encoding="utf-8", errors="replace").strip() != patch.strip():
        yield entry.problem(f"logs/{name}/patch.diff", name, "is not all_preds.jsonl's patch; evaluate that one")
    fixed, unfixed = _labels(report, "FAIL_TO_PASS")
    wrong = [*unfixed, *_labels(report, "PASS_TO_PASS")[1]]
    if wrong or not fixed:
        remedy = f"is true, but SWE-bench counts {_some(wrong) or 'every test'} as failed; {PUBLISHED}"
        yield entry.problem(f"logs/{name}/report.json", "resolved", remedy)


def _output_problems(
    entry: SubmittedFolder, name: str, report: Mapping[str, Any], again: Recomputation
) -> Iterator[Problem]:
    file = f"logs/{name}/test_output.txt"
    output = entry.folder / file
    to_pass, to_keep = ([*chain(*_labels(report, group))] for group in ("FAIL_TO_PASS", "PASS_TO_PASS"))
    if not output.is_file():
        yield entry.problem(file, name, "is missing, so nobody can grade it again; evaluate it again")
        return
    if lacking := again.lacking(output.read_text(encoding="utf-8", errors="replace"), to_pass, to_keep):
        remedy = f"does not show {_some(lacking)} passing, so nobody can grade it again; {PUBLISHED}"
        yield entry.problem(file, name, remedy)


def _some(tests: Sequence[str]) -> str:
    return "" if not tests else f"{tests[0]!r}" + (f" and {len(tests) - 1} others" if len(tests) > 1 else "")
