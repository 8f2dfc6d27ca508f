"""What the folders of several leaderboards have in common: names, predictions, README.md and trajectories."""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any

from assay.harness.benchmarks import BENCHMARKS, find_benchmark
from assay.harness.domain import Instance
from assay.harness.errors import UserError
from assay.harness.exports.base import RunToExport
from assay.harness.files import read_regular


def refuse_other_benchmarks(instance: Instance, export: str, remedy: str = "") -> None:
    """Raise UserError for an instance that is graded by the rule of a benchmark with another leaderboard, or none."""
    if find_benchmark(instance.rule).submitted_as != export:
        own = next(each.name for each in BENCHMARKS if each.submitted_as == export)
        raise UserError(f"{instance.id} is graded by {instance.rule}, not by {own}{remedy}")


def json_text(content: Any) -> bytes:
    return (json.dumps(content, indent=2) + "\n").encode()


def yaml_text(content: Any) -> bytes:
    import yaml

    text: str = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
    return text.encode()


def folder_name(run: RunToExport) -> str:
    """Name the day of the submission, or of the run, and the system: ``<YYYYMMDD>_<name>``."""
    day = run.metadata.date.isoformat() if run.metadata.date else run.manifest.started[:10]
    parts = (re.sub(r"[^A-Za-z0-9.]+", "-", part).strip("-.") for part in run.metadata.name.split(" + "))
    name = run.metadata.folder or "_".join(parts)
    return f"{day.replace('-', '')}_{name or 'submission'}"


def folder_of_split(run: RunToExport, splits: Collection[str], leaderboard: str) -> str:
    """Return ``evaluation/<split>/<folder_name>``; raises UserError for a split that the leaderboard does not have."""
    split = run.metadata.split
    if split not in splits:
        raise UserError(f"field split: {split!r} is no split of {leaderboard}; write one of {', '.join(splits)}")
    return f"evaluation/{split}/{folder_name(run)}"


def prediction_rows(run: RunToExport) -> list[dict[str, str]]:
    return [
        {"instance_id": each.instance_id, "model_name_or_path": each.model, "model_patch": each.patch}
        for each in run.predictions
    ]


def lines(rows: list[dict[str, str]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def trajectories(run: RunToExport, folder: str) -> Iterator[tuple[str, bytes]]:
    for name, path in run.trajectories.items():
        yield f"{folder}/{name}{path.suffix or '.txt'}", read_regular(path)


def readme(run: RunToExport, instances: dict[str, tuple[str, int]], *, resolved: set[str]) -> bytes:
    """Write README.md: the system, its figures by repository and year, and how they were measured.

    ``instances`` are repository and year of each evaluated instance, by id.
    """
    about, manifest = run.metadata, run.manifest
    total = len(instances) + len(run.missing)
    head = [f"# {about.name}", about.notes, _people(run), f"Resolved {len(resolved)} of {total} instances."]
    if run.missing:
        head.append(f"Without a prediction, and counted as unresolved: {', '.join(run.missing)}.")
    by_repo = _table("repository", {name: repo for name, (repo, _) in instances.items()}, resolved)
    by_year = _table("year", {name: str(year) for name, (_, year) in instances.items()}, resolved)
    rules, environments = ", ".join(run.report.rules), ", ".join(run.report.environments) or "unknown"
    how = (
        f"Evaluated with Assay {manifest.assay_version} on {manifest.started[:10]}: data set {manifest.dataset.name}"
        f"{f' at {manifest.dataset.revision}' if manifest.dataset.revision else ''}; resolved by the rule of {rules}; "
        f"environments: {environments}."
    )
    return ("\n\n".join(part for part in (*head, by_repo, by_year, how) if part) + "\n").encode(errors="replace")


def _people(run: RunToExport) -> str:
    about = run.metadata
    named = {"Authors": about.authors, "Report": about.report, "Site": about.site}
    return "\n".join(f"- {name}: {value}" for name, value in named.items() if value)


def _table(title: str, groups: dict[str, str], resolved: set[str]) -> str:
    of_all = Counter(groups.values())
    good = Counter(group for name, group in groups.items() if name in resolved)
    rows = [
        f"| {group} | {good[group]}/{count} | {100 * good[group] / count:.1f}% |" for group, count in of_all.items()
    ]
    return "\n".join([f"| {title} | resolved | share |", "| --- | --- | --- |", *sorted(rows)])
