"""The four trees of a comparison, each in a container of its own whenever something runs in it."""

import hashlib
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import ceil
from pathlib import Path
from typing import TypeVar

from assay.harness.domain import ApplyStatus, Evidence, FailedPart, Instance, Prediction, TestPlan
from assay.harness.engines.base import Engine
from assay.harness.errors import AssayError, EngineError, EngineUnavailable, ImageMissing, RunStopped
from assay.harness.evaluation.evaluate import Evaluation, Task, evaluate
from assay.harness.files import atomic_file
from assay.harness.runs.keys import content_key, edition_of

OUT = "/tmp/assay-report"
"""Folder in which programs leave their observations."""
MERCY = 10.0
"""Seconds until a job that has not ended by itself is killed with all that it has left."""
EVIDENCE = "evidence.json"
EDITION = ("patchdiff", "grading")
"""Rooms of the harness that, with those of an evaluation, decide what a kept result is."""
Files = dict[str, bytes]
_Took = tuple[Files, float]
Result = TypeVar("Result")


class Side(StrEnum):
    """Whose tree it is."""

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


def limited(plan: TestPlan, seconds: float) -> TestPlan:
    """Return a plan with another time limit."""
    return plan.model_copy(update={"limits": plan.limits.model_copy(update={"seconds": seconds})})


@dataclass(frozen=True, slots=True)
class SideJob:
    """A command to run in a tree, and files laid into the tree for it."""

    command: str
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Path in the tree to content."""
    seconds: float = 600.0
    """After these it is to end by itself, with another status than 0; ``$ASSAY_END`` says when that is."""
    keep: bool = False
    """Keep what is left on a side without the candidate's patch, for other candidates; what confirms is never kept."""


@dataclass(slots=True)
class SavedTime:
    """The seconds that results kept from earlier comparisons have saved this one."""

    seconds: float = 0.0
    _in_stage: list[float] | None = None

    def add(self, seconds: float) -> None:
        """Note that something which once took so long need not be done again."""
        if self._in_stage is None:
            self.seconds += seconds
        else:
            self._in_stage.append(seconds)

    @contextmanager
    def stage(self) -> Iterator[None]:
        """Let what is done at once count once: kept results save what they took beyond the rest."""
        began, self._in_stage = time.monotonic(), []
        try:
            yield
        finally:
            longest, self._in_stage = max(self._in_stage, default=0.0), None
            self.seconds += max(0.0, longest - (time.monotonic() - began))


@dataclass(frozen=True, slots=True)
class Sides:
    """An instance's trees: base, gold twice, and with the patch that is compared; all with the instance's tests."""

    task: Task
    """The evaluation that the patch has come through."""
    image: str
    engine: Engine
    labels: Mapping[str, str] = field(default_factory=dict)
    pause: float = 0.5
    """Seconds before a second attempt: an engine that restarts needs a moment."""
    kept: Path | None = None
    """Folder of what jobs left with base, gold and its copy; None keeps nothing."""
    saved: SavedTime = field(default_factory=SavedTime)

    @property
    def instance(self) -> Instance:
        """The instance that is compared on."""
        return self.task.instance

    def patch(self, side: Side) -> str:
        """Return the diff that makes a side out of the base commit."""
        if side is Side.CANDIDATE:
            return self.task.prediction.patch
        return "" if side is Side.BASE else self.instance.gold_patch

    def now(self) -> float:
        """Return the seconds of a clock on which a kept result takes as long as it took at first.

        By this clock a later candidate gets the evidence that the first one got, and ends sooner.
        """
        return time.monotonic() + self.saved.seconds

    def at_once(self, sides: Sequence[Side], work: Callable[[Side], Result]) -> list[Result]:
        """Do some work for several sides at once."""
        with self.saved.stage(), ThreadPoolExecutor(len(sides)) as pool:
            return list(pool.map(work, sides))

    def run(self, side: Side, job: SideJob) -> Files:
        """Run a command in a fresh container with one side's tree; return the files that it left in ``OUT``.

        A job that may be kept, and that ran to its end for another candidate, does not run again.

        Raises:
            EngineError: the engine failed. SideError: the tree could not be made.
        """
        if not job.keep:
            return self._ran(side, job)[0]
        work = (job.command, job.files)
        return self._once(side, self.task.plan, work, job.seconds, lambda: self._ran(side, job))[0]

    def _once(
        self, side: Side, plan: TestPlan, work: object, limit: float, do: Callable[[], tuple[Files, bool]]
    ) -> _Took:
        """Return what work left on a side, and its seconds, from when it came to its end on an equal one.

        What is kept counts on the clock with its seconds, at most ``limit``, so that it never costs more than a run.
        """
        began = time.monotonic()
        path = self.kept_file(side, plan, work, ".zip")
        if path is None:
            return do()[0], time.monotonic() - began
        if path.exists():
            with zipfile.ZipFile(path) as archive:
                took = float(archive.comment)
                self.saved.add(min(took, limit))
                return {name: archive.read(name) for name in archive.namelist()}, took
        files, ended = do()
        took = time.monotonic() - began
        if ended:
            with atomic_file(path, syncs=False) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.comment = f"{took:.3f}".encode()
                for name, text in files.items():
                    archive.writestr(name, text)
        return files, took

    def kept_file(self, side: Side, plan: TestPlan, work: object, suffix: str) -> Path | None:
        """Return where it is kept what some work shows of a side; None where nothing is, as of a candidate's."""
        if self.kept is None or side is Side.CANDIDATE:
            return None
        prediction = self.task.prediction.model_copy(update={"patch": self.patch(side)})
        equal = content_key(replace(self.task, prediction=prediction, plan=plan))
        content = repr((self.image, side, equal, edition_of(*EDITION), work))
        return self.kept / f"{hashlib.sha256(content.encode()).hexdigest()}{suffix}"

    def _ran(self, side: Side, job: SideJob) -> tuple[Files, bool]:
        """Return the files that a job left, and whether it did all that it was to do."""
        plan = limited(self.task.plan, job.seconds + MERCY)
        command = f"export ASSAY_END=$(($(date +%s) + {ceil(job.seconds)}))\n{job.command}"
        bare = {"command": command, "report_path": OUT, "report_format": "status_json", "runner": ""}
        laid = self.task.assets()
        evaluation = self._evaluate(side, plan.model_copy(update=bare), {**laid, **job.files})
        return dict(evaluation.report_files), evaluation.evidence.exit_code == 0

    def test(self, side: Side, plan: TestPlan, files: Mapping[str, bytes] | None = None) -> Evaluation:
        """Run tests by a plan of their own in a fresh container with one side's tree; raises as ``run``.

        ``files`` are laid into the tree, path to content.
        """
        return self._evaluate(side, plan, {**self.task.assets(), **(files or {})})

    def first_look(self, side: Side, plan: TestPlan) -> tuple[Evidence, float]:
        """Run tests as ``test`` does unless an earlier comparison has; return the seconds that it took, too."""

        def do() -> tuple[Files, bool]:
            seen = self.test(side, plan).evidence
            return {EVIDENCE: seen.model_dump_json().encode()}, bool(seen.report.tests) and not seen.timed_out

        left, took = self._once(side, limited(plan, 1), EVIDENCE, plan.limits.seconds, do)
        return Evidence.model_validate_json(left[EVIDENCE]), took

    def _evaluate(self, side: Side, plan: TestPlan, assets: Mapping[str, bytes]) -> Evaluation:
        prediction = Prediction(instance_id=self.instance.id, model=side, patch=self.patch(side))
        task = replace(self.task, prediction=prediction, plan=plan, runs_empty=True, assets=lambda: assets)
        evaluation = self._attempts(task)
        evidence = evaluation.evidence
        if evidence.error or evidence.apply.status not in {ApplyStatus.APPLIED, ApplyStatus.EMPTY}:
            raise SideError(f"the {side} tree could not be made: {evidence.error or evidence.apply.detail}")
        return evaluation

    def _attempts(self, task: Task) -> Evaluation:
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
