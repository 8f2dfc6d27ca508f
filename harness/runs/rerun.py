"""Repeats unresolved evaluations, to mark flaky tests beside the strict verdict."""

from collections.abc import Sequence
from dataclasses import replace

from assay.harness.domain import Verdict
from assay.harness.evaluation.evaluate import Task
from assay.harness.grading.grade import grade
from assay.harness.grading.stability import failing, mark_flaky
from assay.harness.runs.crew import Progress
from assay.harness.runs.runner import Runner
from assay.harness.runs.saved import SavedVerdict
from assay.harness.runs.store import RunStore


def suspects(tasks: Sequence[Task], verdicts: Sequence[Verdict]) -> list[Task]:
    """Return the unresolved tasks with a failing expected test that has passed in no repetition yet."""
    return [task for task, verdict in zip(tasks, verdicts, strict=True) if set(failing(verdict)) - set(verdict.flaky)]


def rerun(
    runner: Runner, tasks: Sequence[Task], number: int, progress: Progress[Task, SavedVerdict] | None = None
) -> None:
    """Evaluate tasks once more, whole and in fresh containers; the evidence is kept beside the first.

    The repetitions count from 1; one that is there already is not repeated. Raises RunStopped after a signal.
    """
    replace(runner, store=runner.store.rerun(number)).execute(tasks, progress)


def mark_repeated(store: RunStore, tasks: Sequence[Task], verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Mark flaky tests by the repetitions so far, and save each verdict that changes; no outcome does."""
    return [_mark_repeated(store, task, verdict) for task, verdict in zip(tasks, verdicts, strict=True)]


def _mark_repeated(store: RunStore, task: Task, verdict: Verdict) -> Verdict:
    saved = store.load_verdict(verdict.instance_id)
    if saved is None or not failing(verdict):
        return verdict
    marked = mark_flaky(verdict, [grade(task.instance, each) for each in store.load_reruns(saved)])
    if marked != saved.verdict:
        store.save_verdict(saved.model_copy(update={"verdict": marked}))
    return marked
