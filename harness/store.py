"""The run directory: every file name in it and every way it is written and read.

    <run>/{run.json, journal.jsonl, predictions.jsonl, verdicts.jsonl, report.json, lock,
           instances/<id>/{instance.json, patch.diff, evidence.json, verdict.json, test_output.txt, reports/...}}
    <runs>/.index/{<content key>, durations.json}      what any run here has already judged, and how long tests took

Files are replaced whole or not at all; the journal only grows, and a torn last line of it is ignored.
"""

import fcntl
import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, Field, ValidationError

from assay.harness.domain import DatasetRef, Evidence, Instance, Model, Prediction, Verdict
from assay.harness.errors import UserError
from assay.harness.evaluate import Evaluation, Task
from assay.harness.summary.report import RunReport

ModelT = TypeVar("ModelT", bound=BaseModel)


class Run(Model):
    """What a run was: enough to know whether two runs may be compared."""

    id: str
    dataset: DatasetRef
    model: str
    started: str
    assay_version: str
    settings: dict[str, str] = Field(default_factory=dict)
    engine: dict[str, str] = Field(default_factory=dict)
    host: dict[str, str] = Field(default_factory=dict)


class SavedVerdict(Model):
    """A verdict and the key of the content that it was given for."""

    key: str
    seconds: float = 0.0
    verdict: Verdict


def content_key(task: Task, version: str) -> str:
    """Return the hash of everything that a verdict depends on; a saved verdict with another key is stale."""
    parts = (
        task.instance.model_dump_json(),
        task.plan.model_dump_json(),
        json.dumps([task.prediction.patch, task.runs_empty]),
        version,
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


class RunStore:
    """One run directory."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep every other process from running in this directory; raises UserError when one already does."""
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.root / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                message = f"another process is running in {self.root}; wait for it, or choose another --run-id"
                raise UserError(message) from error
            yield

    def save_run(self, run: Run, predictions: Iterable[Prediction]) -> None:
        """Write what this run is and what it was given."""
        _replace(self.root / "run.json", run.model_dump_json(indent=2).encode())
        _replace(self.root / "predictions.jsonl", _json_lines(predictions))

    def load_run(self) -> Run:
        """Read what a run was; raises UserError when the folder holds no run."""
        run = _read(self.root / "run.json", Run)
        if run is None:
            raise UserError(f"{self.root} holds no readable run.json: it is not a run of Assay")
        return run

    def load_predictions(self) -> tuple[Prediction, ...]:
        """Read the predictions that the run was given."""
        lines = (self.root / "predictions.jsonl").read_text().splitlines()
        return tuple(Prediction.model_validate_json(line) for line in lines)

    def journal(self, event: str, instance_id: str = "", **facts: str) -> None:
        """Append one line, on disk before this returns."""
        line = json.dumps({"time": round(time.time(), 3), "event": event, "instance": instance_id, **facts})
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.root / "journal.jsonl").open("a") as journal:
            journal.write(line + "\n")
            journal.flush()
            os.fsync(journal.fileno())

    def save(self, task: Task, evaluation: Evaluation, verdict: Verdict, key: str) -> SavedVerdict:
        """Write an evaluation: evidence first, the verdict last, so that a verdict always has its evidence."""
        folder = self._folder(verdict.instance_id)
        _replace(folder / "instance.json", task.instance.model_dump_json().encode())
        _replace(folder / "patch.diff", evaluation.patch.encode(errors="surrogatepass"))
        _replace(folder / "test_output.txt", evaluation.output)
        for name, content in evaluation.report_files.items():
            _replace(folder / "reports" / Path(name).name, content)
        _replace(folder / "evidence.json", evaluation.evidence.model_dump_json(indent=1).encode())
        saved = SavedVerdict(key=key, seconds=evaluation.evidence.timings.test, verdict=verdict)
        _replace(folder / "verdict.json", saved.model_dump_json(indent=1).encode())

        _replace(self._index / key, str(folder.relative_to(self.root.parent)).encode())
        self.journal("finished", verdict.instance_id, outcome=verdict.outcome)
        return saved

    def find(self, instance_id: str, key: str) -> SavedVerdict | None:
        """Return the verdict for exactly this content, from this run or, copied over, from another run beside it."""
        saved = self.load_verdict(instance_id)
        if saved is not None and saved.key == key:
            return saved
        try:
            folder = self.root.parent / (self._index / key).read_text()
        except OSError:
            return None
        elsewhere = _read(folder / "verdict.json", SavedVerdict)
        if elsewhere is None or elsewhere.key != key or elsewhere.verdict.instance_id != instance_id:
            return None
        shutil.copytree(folder, self._folder(instance_id), dirs_exist_ok=True)
        return elsewhere

    def load_verdict(self, instance_id: str) -> SavedVerdict | None:
        """Return the saved verdict of an instance; None when there is none that can be read whole."""
        return _read(self._folder(instance_id) / "verdict.json", SavedVerdict)

    def load_evidence(self, instance_id: str) -> Evidence | None:
        """Return the saved evidence of an instance, or None."""
        return _read(self._folder(instance_id) / "evidence.json", Evidence)

    def load_instance(self, instance_id: str) -> Instance | None:
        """Return the instance, with its labels, as it was when it was evaluated; or None."""
        return _read(self._folder(instance_id) / "instance.json", Instance)

    def load_report(self) -> RunReport | None:
        """Return the summary of the run, or None."""
        return _read(self.root / "report.json", RunReport)

    def save_verdict(self, saved: SavedVerdict) -> None:
        """Replace the verdict of an instance (re-grading)."""
        path = self._folder(saved.verdict.instance_id) / "verdict.json"
        _replace(path, saved.model_dump_json(indent=1).encode())

    def save_report(self, report: RunReport, verdicts: Iterable[Verdict]) -> None:
        """Write the summary of the run."""
        _replace(self.root / "verdicts.jsonl", _json_lines(verdicts))
        _replace(self.root / "report.json", report.model_dump_json(indent=2).encode())

    def durations(self) -> dict[str, float]:
        """Return how many seconds each instance's tests took when any run beside this one last ran them."""
        try:
            known: dict[str, float] = json.loads((self._index / "durations.json").read_text())
        except (OSError, ValueError):
            return {}
        return known

    def save_durations(self, seconds: Mapping[str, float]) -> None:
        """Remember how long tests took."""
        _replace(self._index / "durations.json", json.dumps({**self.durations(), **seconds}, sort_keys=True).encode())

    @property
    def _index(self) -> Path:
        return self.root.parent / ".index"

    def _folder(self, instance_id: str) -> Path:
        return self.root / "instances" / instance_id


def _json_lines(models: Iterable[BaseModel]) -> bytes:
    return "".join(f"{model.model_dump_json()}\n" for model in models).encode()


def _read(path: Path, kind: type[ModelT]) -> ModelT | None:
    try:
        return kind.model_validate_json(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError, ValidationError):
        return None


def _replace(path: Path, content: bytes) -> None:
    """Write a file so that a reader, or a crash, sees the old content or the new, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        with suppress(OSError):
            temporary.unlink()
        raise
