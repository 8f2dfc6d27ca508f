"""The causes of a run's resolved patches: resume, search, save. An exception becomes a cause not found."""

import hashlib
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from assay.harness.benchmarks import find_benchmark
from assay.harness.causes.parts import PatchParts, take_apart
from assay.harness.causes.search import CauseSearch, CauseSettings
from assay.harness.domain import INFRASTRUCTURE, Cause, Evidence
from assay.harness.errors import AssayError, EngineError, RunStopped
from assay.harness.evaluation.evaluate import Task
from assay.harness.patches.diff import MalformedPatchError, find_touched_paths, render
from assay.harness.patches.gate import gate
from assay.harness.runs.attempt import evaluate_once, grade_evaluation
from assay.harness.runs.crew import Progress, make_crew
from assay.harness.runs.keys import content_key, grading_edition, rooms_edition
from assay.harness.runs.pulse import Note, pulse, silent
from assay.harness.runs.saved import SavedCause
from assay.harness.runs.store import RunStore
from assay.harness.runs.workbench import Workbench

ENGINE_FAILED = "an evaluation failed"


@dataclass(frozen=True, slots=True)
class CauseRunner:
    """Finds the causes of resolved patches and saves them in the run's store; the Work of a Crew."""

    store: RunStore
    bench: Workbench
    settings: CauseSettings
    jobs: int = 1
    fresh: bool = False
    """Ignore saved causes, and what was evaluated for them."""
    note: Note = silent
    """Called in any thread with the current step of each search."""
    every: float = 30.0

    def execute(self, tasks: Sequence[Task], progress: Progress[Task, Cause] | None = None) -> list[Cause]:
        """Find the causes of patches that have none yet; return all, in the order of the tasks.

        Raises RunStopped: a signal ended the run; what was evaluated is saved.
        """
        return make_crew(self.bench, self.jobs).complete(self, tasks, fresh=self.fresh, progress=progress)

    def key(self, task: Task) -> str:
        return task.instance.id

    def find_known(self, task: Task) -> Cause | None:
        """Return the saved cause of the same content, unless there is more to do."""
        saved = self.store.load_cause(task.instance.id)
        if saved is None or saved.key != self._content_key(task) or saved.cause.error:
            return None
        return saved.cause if self.settings.is_met(saved.cause) else None

    def plan(self, pending: Mapping[str, Task], _total: int) -> list[str]:
        return list(pending)

    def begin(self, task: Task, number: int) -> None:
        if self.fresh and number == 1:
            self.store.forget_cause(task.instance.id)

    def attempt(self, task: Task, _number: int) -> Cause:
        """Search for one cause; an engine that fails ends the attempt, not what was found."""
        try:
            with pulse(lambda text: self.note(f"{task.instance.id}: {text}"), self.every) as note:
                return self._find(task, note)
        except RunStopped:
            raise
        except (AssayError, MalformedPatchError) as error:
            return _make_failure(task, str(error))
        except Exception as error:  # a bug in Assay must not cost the other instances their causes
            return _make_failure(task, f"internal error: {error!r}")

    def may_retry(self, _task: Task, cause: Cause) -> bool:
        return cause.error.startswith(ENGINE_FAILED)

    def save(self, task: Task, cause: Cause) -> Cause:
        before = self._load_saved(task)
        tried = before.tried if before else {}
        self.store.save_cause(SavedCause(key=self._content_key(task), cause=cause, tried=tried))
        with suppress(OSError):
            self.store.journal("traced", task.instance.id, lines=str(cause.lines), error=cause.error)
        return cause

    def _find(self, task: Task, note: Note) -> Cause:
        benchmark = find_benchmark(task.instance.rule)
        if benchmark.patches_are_tests:
            raise CauseError(f"the rule {benchmark.name} judges tests, and a cause is a part of a fix")
        began, saved = time.monotonic(), self._load_saved(task)
        parts = take_apart(gate(task.prediction.patch, allow_binary=True).text)
        evidence = list[Evidence]()

        def judge(patch: str) -> bool:
            note(search.note())
            found, resolves = self._evaluate(task, patch)
            evidence[:] = [found] if resolves else []
            return resolves

        search = CauseSearch(task.instance, parts, judge, self.settings, dict(saved.tried) if saved else {})
        search.unread = self._list_unread(task)
        if self._is_known_resolved(task, parts):
            search.tried[search.whole_tree] = True

        def remember() -> None:
            cause = search.describe(task.prediction.model, time.monotonic() - began)
            found = SavedCause(key=self._content_key(task), cause=cause, tried=search.tried)
            self.store.save_cause(found, evidence.pop() if evidence else None)

        search.remember = remember
        if not search.find():
            raise CauseError("the whole patch does not resolve any more; evaluate it again")
        return search.describe(task.prediction.model, time.monotonic() - began)

    def _evaluate(self, task: Task, patch: str) -> tuple[Evidence, bool]:
        """Evaluate a part of a patch, its fail-to-pass tests first; raises EngineError."""
        prediction = task.prediction.model_copy(update={"patch": patch})
        part = replace(task, prediction=prediction, fail_fast=True)
        labels = {"assay.run": self.store.root.name, "assay.instance": task.instance.id}
        evaluation = evaluate_once(part, self.bench, labels)
        verdict = grade_evaluation(part, evaluation)
        if verdict.outcome in INFRASTRUCTURE:
            raise EngineError(f"{ENGINE_FAILED}: {verdict.reason}")
        return evaluation.evidence, verdict.resolved

    def _list_unread(self, task: Task) -> frozenset[str]:
        """Return the files that were put back when the whole patch was evaluated, and that no fix needs."""
        evidence = self.store.load_evidence(task.instance.id)
        return frozenset(evidence.restored if evidence else ()) - {*find_touched_paths(task.instance.gold_patch)}

    def _is_known_resolved(self, task: Task, parts: PatchParts) -> bool:
        """Return whether the saved verdict is about the whole patch as this search writes it."""
        saved = self.store.load_verdict(task.instance.id)
        is_same = render(parts.files) == gate(task.prediction.patch, allow_binary=True).text
        return saved is not None and saved.verdict.resolved and saved.key == content_key(task) and is_same

    def _load_saved(self, task: Task) -> SavedCause | None:
        saved = self.store.load_cause(task.instance.id)
        return saved if saved is not None and saved.key == self._content_key(task) else None

    def _content_key(self, task: Task) -> str:
        parts = (content_key(task), rooms_edition("causes"), grading_edition())
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


class CauseError(AssayError):
    """A patch has no cause to be found."""


def _make_failure(task: Task, problem: str) -> Cause:
    return Cause(instance_id=task.instance.id, model=task.prediction.model, error=problem)
