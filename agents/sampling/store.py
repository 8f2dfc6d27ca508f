"""The folder of a solver's run: names of its files, how they are written and read.

    <run>/{run.json, journal.jsonl, lock, llm.jsonl, solutions.jsonl, preds.jsonl, preds.json, multi_swe_bench.jsonl,
           instances/<id>/<sample>/{task.json, trajectory.json, patch.diff, candidates.jsonl, log.txt, solution.json}}

``llm.jsonl`` records the model's answers; ``server.log`` is what a server printed that was started for the run.
``solution.json`` is written last and marks a sample as finished; a folder without one is solved again. Predictions of
further samples are in ``preds.<sample>.jsonl`` and ``multi_swe_bench.<sample>.jsonl``, since readers of such files
reject a second row of an instance.
"""

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from assay.agents.contract import AgentTask, Budget, Solution, SolutionStatus
from assay.harness.benchmarks import multi_swe_bench
from assay.harness.domain import Instance, Model, Prediction
from assay.harness.files import json_lines, read_model, replace_file, write_file
from assay.harness.runs.journal import Journal
from assay.harness.runs.manifest import Run, RunKind
from assay.harness.runs.store import RunStore
from assay.instances.dataset.predictions import prediction_row

SAMPLES, TOTAL, EVALUATED = "samples", "total budget", "evaluate"
"""Settings of a run: samples of each instance, what all of them, of all shards, may cost, and whether it evaluates."""
LIMITED = frozenset(status for status in SolutionStatus if status.startswith("limit_"))
"""Statuses that a larger budget may change."""


class SavedSolution(Model):
    """A finished sample: the solution, the hash of its inputs, and its budget."""

    key: str
    budget: Budget
    is_final: bool = True
    """False after an infrastructure failure or when the run's own budget ended the sample: the same command solves it
    again."""
    solution: Solution


class SolveStore:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.run = RunStore(root, alone=True)

    @contextmanager
    def lock(self, given: Mapping[str, str]) -> Iterator[None]:
        """Hold the run's lock. Raises UserError: another process holds it, or the run has other inputs."""
        with self.run.lock():
            self.run.admit(RunKind.SOLVE, given)
            yield

    def begin(self, run: Run) -> None:
        """Write run.json; the mark of an oracle stays."""
        before = read_model(self.root / "run.json", Run)
        if before is not None and not before.given:  # an older version's, which did not record it
            for path in (self.root / "solutions.jsonl", *self.root.glob("preds*"), *self.root.glob("multi_swe_bench*")):
                path.unlink(missing_ok=True)
        run = before.extend(run) if before else run
        replace_file(self.root / "run.json", run.model_dump_json(indent=2).encode())

    @property
    def server_log(self) -> Path:
        return self.root / "server.log"

    @property
    def recording(self) -> Path:
        return self.root / "llm.jsonl"

    def folder(self, instance_id: str, sample: int) -> Path:
        return self.root / "instances" / instance_id / str(sample)

    def open_sample(self, instance_id: str, sample: int) -> Path:
        """Return the folder of a sample, emptied of an earlier attempt's files."""
        folder = self.folder(instance_id, sample)
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "logs").mkdir(parents=True)
        return folder

    def replace_sample(self, instance_id: str, sample: int, files: Mapping[str, bytes]) -> None:
        """Write the files of a sample that another machine solved, by their paths in its folder."""
        folder = self.open_sample(instance_id, sample)
        for path, content in files.items():
            write_file(folder / path, content)

    def save_task(self, instance_id: str, sample: int, task: AgentTask) -> None:
        write_file(self.folder(instance_id, sample) / "task.json", task.model_dump_json(indent=1).encode())

    def find(self, instance_id: str, sample: int, key: str, budget: Budget) -> SavedSolution | None:
        """Return a sample's solution if it is final for this key, and for this budget if a limit ended it."""
        saved = read_model(self.folder(instance_id, sample) / "solution.json", SavedSolution)
        if saved is None or saved.key != key or not saved.is_final:
            return None
        return saved if saved.solution.status not in LIMITED or saved.budget == budget else None

    def save(self, saved: SavedSolution) -> None:
        """Write a sample's result; the marker comes last."""
        solution = saved.solution
        folder = self.folder(solution.instance_id, solution.sample)
        write_file(folder / "patch.diff", solution.patch.encode(errors="replace"))
        if solution.candidates:
            write_file(folder / "candidates.jsonl", json_lines(solution.candidates))
        replace_file(folder / "solution.json", saved.model_dump_json(indent=1).encode())

    def log(self, instance_id: str, sample: int, text: str) -> None:
        file = self.folder(instance_id, sample) / "log.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8", errors="replace") as log:
            log.write(text.rstrip("\n") + "\n")

    def finish(self, instances: Sequence[Instance], solutions: Sequence[Solution]) -> None:
        """Write all solutions, and the patches in the formats of the benchmarks, after those of earlier commands."""
        about = read_model(self.root / "run.json", Run)
        mark = about.oracle if about else ""
        rows = [each.model_dump(mode="json") for each in solutions]
        _add(self.root / "solutions.jsonl", rows, ("instance_id", "sample"))
        multi = {each.id: each for each in instances if each.rule is multi_swe_bench.BENCHMARK.name}
        for sample in sorted({each.sample for each in solutions}):
            of_sample = [each for each in solutions if each.sample == sample]
            rows = [prediction_row(make_prediction(each, mark)) for each in of_sample]
            rows = _add(self.predictions(sample), rows, ("instance_id",))
            if sample == 0:
                by_id = {row["instance_id"]: row for row in rows}
                replace_file(self.root / "preds.json", (json.dumps(by_id, indent=1) + "\n").encode())
            rows = [_multi_swe_bench(multi[each.instance_id], each) for each in of_sample if each.instance_id in multi]
            if rows:
                _add(self._sample_file("multi_swe_bench", sample), rows, ("org", "repo", "number"))

    def become(self, run: Run, events: Iterable[Mapping[str, str]]) -> None:
        """Make this the folder of a merged run that has no solution yet; what an earlier merge left goes."""
        replace_file(self.root / "run.json", run.model_dump_json(indent=2).encode())
        for path in self.root.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif path.name not in {"run.json", "lock"}:
                path.unlink()
        Journal(self.root / "journal.jsonl").replace(events)

    def list_recorded(self) -> list[Path]:
        """Return the files of lines that ``finish`` does not write from solutions alone."""
        return [*self.root.glob("llm.jsonl"), *self.root.glob("multi_swe_bench*.jsonl")]

    def predictions(self, sample: int = 0) -> Path:
        return self._sample_file("preds", sample)

    def _sample_file(self, name: str, sample: int) -> Path:
        return self.root / (f"{name}.jsonl" if sample == 0 else f"{name}.{sample}.jsonl")


def _multi_swe_bench(instance: Instance, solution: Solution) -> dict[str, Any]:
    from assay.harness.exports.multi_swe_bench import get_number

    org, _, repo = instance.repo.partition("/")
    return {"org": org, "repo": repo, "number": get_number(instance), "fix_patch": solution.patch}


def make_prediction(solution: Solution, oracle: str) -> Prediction:
    model = prediction_name(solution.agent, solution.model)
    return Prediction(instance_id=solution.instance_id, model=model, patch=solution.patch, oracle=oracle)


def prediction_name(agent: str, model: str) -> str:
    """Return the ``model_name_or_path`` of a solver's predictions."""
    return f"{agent}.{model}" if model else agent


def _add(path: Path, rows: Sequence[dict[str, Any]], key: Sequence[str]) -> list[dict[str, Any]]:
    """Write rows after those of the file that they do not replace; return all."""
    new = {tuple(row[name] for name in key) for row in rows}
    old = [json.loads(line) for line in path.read_bytes().splitlines()] if path.is_file() else []
    both = [row for row in old if tuple(row[name] for name in key) not in new] + list(rows)
    replace_file(path, "".join(json.dumps(row) + "\n" for row in both).encode())
    return both
