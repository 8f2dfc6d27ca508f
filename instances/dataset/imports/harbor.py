"""A job folder of Harbor: the patch that each trial left among its artifacts.

    <job>/{config.json, result.json, <trial>/{config.json, result.json, agent/, verifier/, artifacts/}}

Harbor mirrors an artifact's absolute path, so a task that declares ``/logs/artifacts/model.patch`` leaves it as
``artifacts/logs/artifacts/model.patch``.
"""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from assay.harness.errors import DataError, UserError
from assay.harness.runs.manifest import ORACLE
from assay.instances.dataset.imports.base import Attempt, files_below, get_text, part, read_bytes, read_object

NAME = "Harbor job folder"
PATCH_BYTES = 64 * 1024 * 1024
PATCHES = ("model.patch", "agent.patch", "patch.diff", "model_patch.diff")
"""Names of a trial's patch, the usual one first. Others may be the task's own, such as ``test.patch``."""
FOLDERS = ("artifacts", "verifier", "agent")  # the folders that are searched; the first that has one counts
REMEDY = "write it to /logs/artifacts/model.patch and name that among the task's artifacts"


def recognises(source: Path) -> bool:
    """Return whether a folder is a job, a trial, or a folder of jobs, such as `jobs/`."""
    return bool(_trials(source) or _jobs(source))


def attempts(source: Path) -> Iterator[Attempt]:
    """Yield every trial by task; several of one are attempts in order of their start. Raises UserError, DataError."""
    jobs = [] if _trials(source) else _jobs(source)
    if len(jobs) > 1:
        names = ", ".join(job.name for job in jobs[:5])
        raise UserError(f"{source}: is a folder of {len(jobs)} Harbor jobs; name one of them: {names}")
    trials = _trials(jobs[0] if jobs else source)
    records = [(_record(trial), trial) for trial in trials]
    records.sort(key=lambda each: (str(each[0].get("started_at") or ""), each[1].name))
    named = sorted(((_task(*each), *each) for each in records), key=lambda each: each[0].lower())
    for _, same in groupby(named, key=lambda each: each[0].lower()):
        for number, (name, record, trial) in enumerate(same, start=1):
            yield _attempt(record, trial, name, number)


def _trials(source: Path) -> list[Path]:
    """Return the folders with a trial's record: below a job, or the folder itself."""
    return [folder for folder in (source, *_folders(source)) if _is_record(folder, "trial_name")]


def _jobs(source: Path) -> list[Path]:
    return [folder for folder in _folders(source) if _is_record(folder, "n_total_trials") or _trials(folder)]


def _folders(source: Path) -> list[Path]:
    try:
        return sorted(path for path in source.iterdir() if path.is_dir() and not path.is_symlink())
    except OSError:
        return []


def _is_record(folder: Path, field: str) -> bool:
    """Return whether a folder's result, or its configuration while it runs, has a field that only Harbor's have."""
    for name in ("result.json", "config.json"):
        try:
            if field in read_object(read_bytes(folder / name), ""):
                return True
        except UserError:
            continue
    return False


def _record(trial: Path) -> dict[str, Any]:
    """Return a trial's result; its configuration if it has not finished."""
    result = trial / "result.json"
    path = result if result.is_file() else trial / "config.json"
    return read_object(read_bytes(path), str(path))


def _task(record: dict[str, Any], trial: Path) -> str:
    """Return the task's name without its organisation; a trial that runs names the task or its folder."""
    if "task_name" in record:
        whole = get_text(record, "task_name", str(trial / "result.json"))
    else:
        field = "task.name" if part(record, "task", "name") else "task.path"
        whole = get_text(record, field, str(trial / "config.json"))
    return whole.rstrip("/").rsplit("/", 1)[-1]


def _attempt(record: dict[str, Any], trial: Path, name: str, number: int) -> Attempt:
    patch, missing = None, ""
    path = _find_patch(trial)
    try:
        if path:
            content = read_bytes(path, PATCH_BYTES, "remove it from the artifacts")
            patch = content.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        missing = "its patch is not UTF-8 text"
    if path is None:
        failed = part(record, "exception_info", "exception_type")
        missing = f"no patch ({failed})" if failed else f"no patch; {REMEDY}"
    oracle = part(record, "config", "agent", "kwargs", ORACLE)
    return Attempt(name, str(trial), patch, _model(record), number, missing, oracle if isinstance(oracle, str) else "")


def _find_patch(trial: Path) -> Path | None:
    """Return the trial's patch: one of the usual names, or its only one; raises DataError if unclear."""
    for folder in FOLDERS:
        files = [path for path in files_below(trial / folder) if path.suffix in (".patch", ".diff")]
        named = [path for path in files if path.name in PATCHES]
        found = [path for path in named if path.name == PATCHES[0]] or named or (files if folder == FOLDERS[0] else [])
        if len(found) > 1:
            names = ", ".join(str(path.relative_to(trial)) for path in found[:3])
            raise DataError(f"has several patches ({names}); keep one, named {PATCHES[0]}", file=str(trial))
        if found:
            return found[0]
    return None


def _model(record: dict[str, Any]) -> str:
    """Return agent and model, as Assay names a solver's predictions: ``<agent>.<provider>/<model>``."""
    agent, model = part(record, "agent_info", "name"), part(record, "agent_info", "model_info", "name")
    provider = part(record, "agent_info", "model_info", "provider")
    names = (agent, f"{provider}/{model}" if provider and model else model)
    return ".".join(name for name in names if isinstance(name, str) and name)
