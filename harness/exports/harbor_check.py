"""What Harbor's models and viewer would refuse, skip or count wrong in a folder of jobs."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from assay.harness.errors import DataError
from assay.harness.exports.base import Problem

TRIAL_FILES = ("config.json", "lock.json", "result.json", "trial.log", "artifacts/manifest.json")
RESULT_FIELDS = ("id", "task_name", "trial_name", "trial_uri", "task_id", "task_checksum", "config", "agent_info")


def check(folder: Path) -> Iterator[Problem]:
    """Yield faults; raises DataError if a file is no JSON object."""
    jobs = [path.parent for path in sorted(folder.glob("*/result.json"))]
    if not jobs:
        yield Problem("", "", "holds no job (a folder with result.json); harbor view shows nothing")
    for job in jobs:
        yield from _check_job(job, folder)


def _check_job(job: Path, folder: Path) -> Iterator[Problem]:
    trials = sorted(path for path in job.iterdir() if path.is_dir())
    results = {}
    for trial in trials:
        for name in TRIAL_FILES:
            if not (trial / name).is_file():
                yield Problem(_shorten(folder, trial / name), "", "is missing; export the run again")
        if (trial / "result.json").is_file():
            results[trial.name] = _read_object(trial / "result.json", folder)
            yield from _check_trial(trial, results[trial.name], folder)
    yield from _check_sums(job, results, folder)
    if not (job / "config.json").is_file():
        yield Problem(_shorten(folder, job / "config.json"), "", "is missing; harbor view takes the folder for no job")


def _check_trial(trial: Path, result: Mapping[str, Any], folder: Path) -> Iterator[Problem]:
    file = _shorten(folder, trial / "result.json")
    for name in RESULT_FIELDS:
        if name not in result:
            yield Problem(file, name, "is missing; Harbor's TrialResult needs it")
    if result.get("trial_name") != trial.name:
        yield Problem(file, "trial_name", f"is {result.get('trial_name')!r}; name the folder so, or correct it")
    verified = result.get("verifier_result")
    rewards = verified.get("rewards") if isinstance(verified, Mapping) else None
    if result.get("exception_info") is None:
        yield from _check_score(file, result, rewards)
    elif rewards is not None or result.get("finished_at"):
        problem = "a trial with exception_info has a reward or finished_at; Harbor would count it as a result"
        yield Problem(file, "exception_info", f"{problem}; remove them")
    if not any((trial / "artifacts").rglob("model.patch")):
        yield Problem(
            _shorten(folder, trial / "artifacts"), "", "holds no model.patch; the prediction cannot be read back"
        )
    yield from _check_trajectory(trial / "agent/trajectory.json", folder)


def _check_score(file: str, result: Mapping[str, Any], rewards: object) -> Iterator[Problem]:
    numbers = rewards if isinstance(rewards, Mapping) else {}
    if set(numbers) != {"reward"} or isinstance(numbers["reward"], bool) or numbers["reward"] not in (0, 1):
        problem = "must be one number, reward, 0 or 1: Harbor takes the first of sorted names for the headline"
        yield Problem(file, "verifier_result.rewards", problem)
    if not result.get("finished_at"):
        yield Problem(file, "finished_at", "is missing; Harbor takes the trial for a running one and drops its reward")


def _check_trajectory(path: Path, folder: Path) -> Iterator[Problem]:
    if not path.is_file():
        return
    document, file = _read_object(path, folder), _shorten(folder, path)
    if not str(document.get("schema_version", "")).startswith("ATIF-v"):
        yield Problem(file, "schema_version", "is not ATIF's; put other formats beside it under another name")
    steps = document.get("steps")
    steps = steps if isinstance(steps, list) else []
    numbers = [each.get("step_id") if isinstance(each, Mapping) else None for each in steps]
    if not numbers or numbers != list(range(1, len(numbers) + 1)):
        yield Problem(file, "steps", "must be numbered from 1 without a gap, and there must be one")


def _check_sums(job: Path, results: Mapping[str, Mapping[str, Any]], folder: Path) -> Iterator[Problem]:
    file, whole = _shorten(folder, job / "result.json"), _read_object(job / "result.json", folder)
    stats = whole.get("stats")
    stats = stats if isinstance(stats, Mapping) else {}
    errors = sum(each.get("exception_info") is not None for each in results.values())
    counted = {"n_completed_trials": len(results), "n_errored_trials": errors}
    for name, count in counted.items():
        if stats.get(name) != count:
            yield Problem(file, f"stats.{name}", f"is {stats.get(name)}, and the folder has {count}; export again")
    pending = stats.get("n_pending_trials")
    total = len(results) + (pending if isinstance(pending, int) else 0)
    if whole.get("n_total_trials") != total:
        yield Problem(file, "n_total_trials", f"is {whole.get('n_total_trials')}, and finished and pending are {total}")


def _read_object(path: Path, folder: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise DataError(f"is not JSON: {error}; export the run again", file=_shorten(folder, path)) from None
    if not isinstance(found, dict):
        raise DataError("is not a JSON object; export the run again", file=_shorten(folder, path))
    return found


def _shorten(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix()
