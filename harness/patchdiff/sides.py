"""The four trees of a comparison, each in a container of its own whenever something runs in it."""

import hashlib
import json
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import ceil
from pathlib import Path
from typing import Any, TypeVar

from assay.harness.domain import ApplyStatus, FailedPart, Instance, Prediction, TestPlan
from assay.harness.engines.base import Engine
from assay.harness.errors import AssayError, EngineError, EngineUnavailable, ImageMissing, RunStopped
from assay.harness.evaluation.evaluate import Evaluation, Task, evaluate
from assay.harness.files import replace_file
from assay.harness.runs.keys import content_key, grading_edition, rooms_edition

OUT = "/tmp/assay-report"  # folder in which programs leave their observations
READING = 60.0
MERCY = 10.0  # seconds beyond a job's own limit until it is killed with all its processes
Result = TypeVar("Result")


class Side(StrEnum):
    """The four trees of a comparison."""

    BASE = "base"
    GOLD = "gold"
    NULL = "null"
    """A second copy of gold: every difference between the two is noise."""
    CANDIDATE = "candidate"


class SideError(AssayError):
    """A tree of the comparison could not be made."""


class ForgedSideError(SideError):
    """What a side reported cannot be trusted."""

    def __init__(self, side: Side, why: str) -> None:
        super().__init__(f"the results of the {side} tree cannot be trusted: {why}")


def limit_time(plan: TestPlan, seconds: float) -> TestPlan:
    return plan.model_copy(update={"limits": plan.limits.model_copy(update={"seconds": seconds})})


@dataclass(frozen=True, slots=True)
class SideJob:
    """A command to run in a tree, and files laid into the tree for it."""

    command: str
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Path in the tree to content."""
    seconds: float = 600.0
    """The command should end by itself within these; ``$ASSAY_END`` says when that is."""


@dataclass(frozen=True, slots=True)
class KeptWork:
    """Results of work with gold, kept for later candidates; without a file, nothing is kept."""

    file: Path | None

    def read(self, nothing: Any) -> Any:
        """Return the kept JSON; ``nothing`` if it is missing or torn."""
        with suppress(FileNotFoundError, ValueError):
            return json.loads(self.file.read_text(encoding="utf-8")) if self.file else nothing
        return nothing

    def write(self, shown: object) -> None:
        if self.file:
            replace_file(self.file, json.dumps(shown).encode(), syncs=False)


@dataclass(frozen=True, slots=True)
class Sides:
    """An instance's trees, all with its tests: base, gold twice, and the candidate."""

    task: Task
    """The evaluation that resolved the candidate's patch."""
    image: str
    engine: Engine
    labels: Mapping[str, str] = field(default_factory=dict)
    pause: float = 0.5
    """Seconds before a second attempt: an engine that restarts needs a moment."""
    kept: Path | None = None
    """Folder of results from trees without the candidate's patch; None keeps nothing."""

    @property
    def instance(self) -> Instance:
        return self.task.instance

    def patch(self, side: Side) -> str:
        if side is Side.CANDIDATE:
            return self.task.prediction.patch
        return "" if side is Side.BASE else self.instance.gold_patch

    def map_sides(self, sides: Sequence[Side], work: Callable[[Side], Result]) -> list[Result]:
        with ThreadPoolExecutor(len(sides)) as pool:
            return list(pool.map(work, sides))

    def run(self, side: Side, job: SideJob) -> Mapping[str, bytes]:
        """Run a command in one side's tree; return the files that it left in ``OUT``. Raises EngineError, SideError."""
        plan = limit_time(self.task.plan, job.seconds + MERCY)
        command = f"export ASSAY_END=$(($(date +%s) + {ceil(job.seconds)}))\n{job.command}"
        bare = {"command": command, "report_path": OUT, "report_format": "status_json", "runner": "", "guarded": False}
        laid = self.task.assets()
        return self._evaluate(side, plan.model_copy(update=bare), {**laid, **job.files}).report_files

    def find_kept_work(self, *work: object) -> KeptWork:
        """Return the kept results of some work with gold's tree; ``work`` names it and its inputs."""
        if self.kept is None:
            return KeptWork(None)
        prediction = self.task.prediction.model_copy(update={"patch": self.patch(Side.GOLD)})
        equal = content_key(replace(self.task, prediction=prediction))
        content = repr((self.image, equal, rooms_edition("patchdiff"), grading_edition(), work))
        return KeptWork(self.kept / f"{hashlib.sha256(content.encode()).hexdigest()}.json")

    def test(self, side: Side, plan: TestPlan, files: Mapping[str, bytes] | None = None) -> Evaluation:
        """Run tests by a plan of their own in a fresh container with one side's tree; raises as ``run``.

        ``files`` are laid into the tree, path to content.
        """
        return self._evaluate(side, plan, {**self.task.assets(), **(files or {})})

    def _evaluate(self, side: Side, plan: TestPlan, assets: Mapping[str, bytes]) -> Evaluation:
        prediction = Prediction(instance_id=self.instance.id, model=side, patch=self.patch(side))
        task = replace(self.task, prediction=prediction, plan=plan, runs_empty=True, assets=lambda: assets)
        evaluation = self._evaluate_twice(task)
        evidence = evaluation.evidence
        if evidence.error or evidence.apply.status not in {ApplyStatus.APPLIED, ApplyStatus.EMPTY}:
            raise SideError(f"the {side} tree could not be made: {evidence.error or evidence.apply.detail}")
        return evaluation

    def _evaluate_twice(self, task: Task) -> Evaluation:
        """Evaluate, once more if the engine fails: the container is a fresh one, so nothing is seen twice."""
        try:
            evaluation = evaluate(task, self.image, self.engine, self.labels)
            if evaluation.evidence.failed_part is not FailedPart.INFRASTRUCTURE:
                return evaluation
        except (EngineUnavailable, ImageMissing, RunStopped):
            raise
        except EngineError:
            pass
        time.sleep(self.pause)
        return evaluate(task, self.image, self.engine, self.labels)


def read_files(sides: Sides, side: Side, paths: Sequence[str]) -> Mapping[str, bytes]:
    """Return the existing files among ``paths`` of a side's tree, by path; raises as ``Sides.run``."""
    copy = (f"[ ! -f {path} ] || cp --parents -- {path} {OUT}/" for path in map(shlex.quote, paths))
    left = sides.run(side, SideJob("\n".join([f"mkdir -p {OUT}", *copy, ""]), seconds=READING))
    return {path: left[path] for path in paths if path in left}
