"""A run: plan, resume, collect. The only place where an exception becomes an infra_error."""

import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from assay.harness.domain import (
    INFRASTRUCTURE,
    Apply,
    ApplyStatus,
    Evidence,
    FailedPart,
    Instance,
    Outcome,
    Verdict,
)
from assay.harness.engines.base import Engine
from assay.harness.errors import EngineError, EnvironmentFailure, ImageMissing
from assay.harness.evaluation.evaluate import Evaluation, Task, evaluate
from assay.harness.grading.grade import grade
from assay.harness.runs.dispatch import Crew
from assay.harness.runs.executors import Executor
from assay.harness.runs.store import RunStore, SavedVerdict, content_key
from assay.version import __version__

Prepare = Callable[[Instance], str]
"""Makes sure that an instance's image is present and returns its name; raises EnvironmentFailure or EngineError."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Who wants to know how a run goes on; every call may come from any thread."""

    started: Callable[[Task], None] = lambda _task: None
    finished: Callable[[Verdict, float, bool], None] = lambda _verdict, _seconds, _reused: None
    """Called with the verdict, the seconds of its test command and whether it was known already."""


@dataclass(frozen=True, slots=True)
class Runner:
    """Evaluates tasks and keeps what comes out in a store."""

    store: RunStore
    engine: Engine
    prepare: Prepare
    executor: Executor
    jobs: int = 1
    fresh: bool = False
    """Evaluate again what has a verdict already."""
    progress: Progress = field(default_factory=Progress)
    abort: Callable[[], None] | None = None
    """Ends all work that is under way, at once; the engine's own by default."""
    pause: float = 0.5
    """Seconds before a second attempt, twice as many before the third: an engine that restarts needs a moment."""

    def execute(self, tasks: Sequence[Task]) -> list[Verdict]:
        """Evaluate what has no verdict yet and return the verdicts of all tasks, in the order of the tasks.

        Raises:
            KeyboardInterrupt: told to stop; what is finished is saved, and the same call goes on from there.

        In the main thread a second interrupt, or work that does not end after the first, ends the process with 130.
        """
        saved = {} if self.fresh else self._known(tasks)
        pending = self._longest_first([task for task in tasks if task.instance.id not in saved])
        self.store.journal("planned", count=str(len(tasks)), known=str(len(saved)))
        crew = Crew(self.executor, self.jobs, self.abort or self.engine.abort, self.pause)
        for entry in crew.run(partial(self._work, crew), pending):
            saved[entry.verdict.instance_id] = entry
        self._tidy(saved)
        return [saved[task.instance.id].verdict for task in tasks]

    def _known(self, tasks: Sequence[Task]) -> dict[str, SavedVerdict]:
        known = {}
        for task in tasks:
            saved = self.store.find(task.instance.id, content_key(task, __version__))
            if saved is not None and saved.verdict.outcome not in INFRASTRUCTURE:
                known[task.instance.id] = saved
                self.progress.finished(saved.verdict, saved.seconds, True)
            else:
                self.store.forget(task.instance.id)
        return known

    def _tidy(self, saved: dict[str, SavedVerdict]) -> None:
        """Do what is only of use to others; the verdicts stand whether it succeeds or not."""
        with suppress(OSError):
            self.store.save_durations({key: entry.seconds for key, entry in saved.items() if entry.seconds})
        with suppress(EngineError):
            self.engine.reap()

    def _longest_first(self, tasks: list[Task]) -> list[Task]:
        """Order tasks so that none long is left for the end; those never timed come first."""
        seconds = self.store.durations()
        return sorted(tasks, key=lambda task: -seconds.get(task.instance.id, float("inf")))

    def _work(self, crew: Crew, task: Task) -> SavedVerdict:
        with crew.at_work(task.instance.id):
            self.progress.started(task)
            evaluation = crew.attempt(lambda _number: self._attempt(task), _is_worth_another_try)
        saved = self._save(task, evaluation)
        self.progress.finished(saved.verdict, saved.seconds, False)
        return saved

    def _note(self, event: str, task: Task) -> None:
        # Resuming needs verdicts, not the journal; on a full disk the verdict's own failure is the one to report.
        with suppress(OSError):
            self.store.journal(event, task.instance.id)

    def _attempt(self, task: Task) -> Evaluation:
        self._note("started", task)
        labels = {"assay.run": self.store.root.name, "assay.instance": task.instance.id}
        try:
            return evaluate(task, self.prepare(task.instance), self.engine, labels)
        except (EnvironmentFailure, ImageMissing) as error:
            return _failure(task, FailedPart.ENVIRONMENT, str(error), getattr(error, "tail", ""))
        except EngineError as error:
            return _failure(task, FailedPart.INFRASTRUCTURE, str(error))
        except Exception as error:  # a mistake of ours must not cost the other instances their verdicts
            return _failure(task, FailedPart.INFRASTRUCTURE, f"internal error: {error!r}", traceback.format_exc())

    def _save(self, task: Task, evaluation: Evaluation) -> SavedVerdict:
        key = content_key(task, __version__)
        try:
            return self.store.save(task, evaluation, _grade(task, evaluation), key)
        except OSError as error:
            lost = _failure(task, FailedPart.INFRASTRUCTURE, f"the result could not be written: {error}")
            return SavedVerdict(key=key, verdict=grade(task.instance, lost.evidence))


def _is_worth_another_try(evaluation: Evaluation) -> bool:
    return evaluation.evidence.failed_part is FailedPart.INFRASTRUCTURE


def _grade(task: Task, evaluation: Evaluation) -> Verdict:
    try:
        return grade(task.instance, evaluation.evidence)
    except Exception as error:  # a mistake of ours must not cost the other instances their verdicts
        reason = f"internal error: {error!r}"
        return Verdict(instance_id=task.instance.id, outcome=Outcome.INFRA_ERROR, reason=reason)


def _failure(task: Task, part: FailedPart, error: str, output: str = "") -> Evaluation:
    nothing_applied = Apply(status=ApplyStatus.EMPTY)
    evidence = Evidence(instance_id=task.instance.id, apply=nothing_applied, failed_part=part, error=error)
    return Evaluation(evidence, task.prediction.patch, output.encode())
