"""A result on the Hugging Face hub, for a model's page and a benchmark's leaderboard: ``.eval_results/<name>.yaml``."""

import datetime
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from assay.harness.errors import DataError
from assay.harness.exports.base import Problem, RunToExport
from assay.harness.exports.complaints import SubmittedFolder
from assay.harness.exports.submission import yaml_text

NAME = "huggingface"
LEADERBOARD = True
REQUIRED: tuple[str, ...] = ("benchmark", "task", "site")
FOLDER = ".eval_results"
SIZES = {
    "swe-bench_verified": 500,
    "swe-bench_lite": 300,
    "swe-bench": 2294,
    "swe-bench_multilingual": 300,
    "swe-polybench": 2110,
    "swe-polybench_500": 500,
}
"""Instances of data sets, by the name behind their owner's."""


def files(run: RunToExport) -> Iterator[tuple[str, bytes]]:
    """Yield one file with one result: the share of resolved instances, in percent, of all that were asked for."""
    about, manifest = run.metadata, run.manifest
    total = len(run.predictions) + len(run.missing)
    name = about.benchmark.rpartition("/")[2].lower()
    notes = f"{run.report.resolved_instances} of {total} resolved; Assay {manifest.assay_version}"
    result = {
        "dataset": {"id": about.benchmark, "task_id": about.task} | _revision(manifest.dataset.revision),
        "value": round(100 * run.report.resolved_instances / max(total, 1), 2),
        "date": manifest.started,
        "source": {"url": about.report or about.site, "name": about.name or "Evaluation"},
        "notes": notes,
    }
    yield f"{FOLDER}/{name}.yaml", yaml_text([result])


def _revision(revision: str) -> dict[str, str]:
    """Return the data set's revision if it is a commit of the hub."""
    is_commit = len(revision) == 40 and set(revision) <= set("0123456789abcdef")
    return {"revision": revision} if is_commit else {}


def check(folder: Path) -> Iterator[Problem]:
    """Yield values out of range, and what the hub's own reader refuses; raises DataError for no YAML list."""
    found = sorted((folder / FOLDER).glob("*.yaml"))
    if not found:
        raise DataError("holds no result; add <benchmark>.yaml", file=FOLDER)
    for path in found:
        file = f"{FOLDER}/{path.name}"
        for number, result in enumerate(_results(SubmittedFolder(folder, folder), file), start=1):
            yield from _result_problems(f"{file}:[{number}]", result if isinstance(result, dict) else {})


def _results(entry: SubmittedFolder, file: str) -> list[Any]:
    found = entry.yaml(file)
    if not isinstance(found, list) or not found:
        raise DataError("is no list of results; begin each with '- dataset:'", file=file)
    return found


def _result_problems(file: str, result: Mapping[str, Any]) -> Iterator[Problem]:
    dataset, source, value = result.get("dataset"), result.get("source"), result.get("value")
    if not isinstance(dataset, dict) or str(dataset.get("id", "")).count("/") != 1:
        yield Problem(file, "dataset.id", "is no <owner>/<name> of a data set on the hub; write it")
    if not isinstance(dataset, dict) or not dataset.get("task_id"):
        yield Problem(file, "dataset.task_id", "is missing; write the task's id in the data set's eval.yaml")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100:
        yield Problem(file, "value", f"is {value!r}; write the resolved share in percent")
    whole = SIZES.get(str(dataset.get("id", "")).rpartition("/")[2].lower()) if isinstance(dataset, dict) else None
    part = re.search(r"\d+ of (\d+) resolved", str(result.get("notes")))
    if whole and part and int(part[1]) != whole:
        yield Problem(file, "value", f"is of {part[1]} instances, and the data set has {whole}; evaluate all of them")
    if isinstance(source, dict) and not str(source.get("url", "")).startswith(("http://", "https://")):
        yield Problem(file, "source.url", "is no address; a source needs one")
    if not _is_time(result.get("date")):
        yield Problem(file, "date", f"is {result.get('date')!r}; write a date as 2026-11-23, or leave it out")


def _is_time(value: Any) -> bool:
    if value is None or isinstance(value, datetime.date):
        return True
    try:
        datetime.datetime.fromisoformat(str(value))
    except ValueError:
        return False
    return True
