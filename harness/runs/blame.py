"""The blame where nothing passes: an image that nobody has seen work is tried with the gold patch.

What is found is kept in the cache, by image and tests, for every process of this machine.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from assay.harness.benchmarks import find_benchmark
from assay.harness.domain import INFRASTRUCTURE, PASSING, Evidence, FailedPart, Instance, Outcome, Prediction
from assay.harness.errors import EngineError
from assay.harness.evaluation.evaluate import Evaluation, Task
from assay.harness.files import default_cache, hold_lock, replace_file
from assay.harness.reports import lookup, names_a_test
from assay.harness.rulings.doubts import KILLED, find_distrust
from assay.harness.rulings.normalise import match_labels
from assay.harness.runs.keys import content_key
from assay.harness.runs.workbench import Workbench

UNTESTED = INFRASTRUCTURE | {Outcome.EMPTY_PATCH, Outcome.PATCH_REJECTED, Outcome.PATCH_CONFLICT}
"""Outcomes that do not say whether tests can pass in an image."""
REASON = "{}; with {}: {}"


def blame(task: Task, found: Evaluation, bench: Workbench, evaluate: Callable[[Task], Evaluation]) -> Evaluation:
    """Return an evaluation, with the environment as what failed if nothing passes there with the gold patch either.

    Args:
        task: what was evaluated.
        found: its evaluation.
        bench: plans the gold patch's.
        evaluate: evaluates a task as this one was, and asks for nobody's blame.

    Raises:
        EngineError: the engine failed.
    """
    works = _read_signs(task.instance, found.evidence)
    control = None if works is None else _plan_control(task, bench)
    if control is None:
        return found
    record = _find_record(control, found.evidence)
    if works:
        with suppress(OSError):  # it is seen again
            if _read_record(record) != "":
                replace_file(record, b"", syncs=False)
        return found
    with hold_lock(record.with_suffix(".lock")):
        reason = _read_record(record)
        if reason is None:
            is_control = task.prediction.patch.strip() == control.prediction.patch.strip()
            reason = _explain_failure(control, found if is_control else evaluate(control))
            if reason is not None:
                replace_file(record, reason.encode(errors="replace"), syncs=False)
    if not reason:
        return found
    update = {"failed_part": FailedPart.ENVIRONMENT, "error": reason}
    return replace(found, evidence=found.evidence.model_copy(update=update))


def _plan_control(task: Task, bench: Workbench) -> Task | None:
    """Return the task of the instance's own patch; None if neither it nor its lack can show that tests pass.

    Without a patch, only tests that pass before and after the fix can.
    """
    instance, benchmark = task.instance, find_benchmark(task.instance.rule)
    own = instance.test_patch if benchmark.patches_are_tests else instance.gold_patch
    if not own.strip() and not instance.pass_to_pass:
        return None
    prediction = Prediction(instance_id=instance.id, model="gold" if own.strip() else "null", patch=own)
    same = {"limits": task.plan.limits, "strict": False}
    planned = benchmark.plan(bench, instance, prediction) if benchmark.patches_are_tests else task
    return replace(
        task,
        prediction=prediction,
        plan=planned.plan.model_copy(update=same),
        beside=planned.beside and planned.beside.model_copy(update=same),
        runs_empty=True,
        fail_fast=False,
        counter="",
        counters=None,
    )


def _read_signs(instance: Instance, evidence: Evidence) -> bool | None:
    """Return whether an evaluation shows that tests pass in its image, or that none does; None if it shows neither.

    Over a tree that lacks files, only a resolved patch shows that they do, if there is a gold patch to ask.
    """
    ruling = find_benchmark(instance.rule).judge(instance, evidence.model_copy(update={"strict": False}))
    was_killed = ruling.outcome is Outcome.TAMPERED and evidence.exit_code == KILLED
    if ruling.outcome in UNTESTED or was_killed:
        return None
    if ruling.outcome is Outcome.RESOLVED:
        return True
    if ruling.outcome is Outcome.NOT_RUN or not _has_passes(instance, evidence):
        return False
    if ruling.outcome is not Outcome.UNRESOLVED or find_distrust(evidence):
        return None
    return not (evidence.lacking and instance.gold_patch.strip())  # what failed may need a file that is not there


def _has_passes(instance: Instance, evidence: Evidence) -> bool:
    """Return whether an expected test has passed or, where labels are not names of single tests, any test."""
    runs = (evidence, *evidence.trees.values())
    if find_benchmark(instance.rule).own_judge is None:
        labels = [*filter(names_a_test, (*instance.fail_to_pass, *instance.pass_to_pass))]
        results = [match_labels(instance, run.report.tests) for run in runs]
        if labels:
            return any(lookup(label, tests) & PASSING for label in labels for tests in results)
    return any(status in PASSING for run in runs for status in run.report.tests.values())


def _explain_failure(control: Task, found: Evaluation) -> str | None:
    """Return why a control passes nothing; empty if it does pass tests, None if it shows neither."""
    if found.evidence.failed_part is FailedPart.INFRASTRUCTURE:
        raise EngineError(found.evidence.error)
    works = _read_signs(control.instance, found.evidence)
    if works is not False:
        return "" if works else None
    reason = find_benchmark(control.instance.rule).judge(control.instance, found.evidence).reason
    lacking = f"the tree lacks {', '.join(found.evidence.lacking)}" if found.evidence.lacking else "nothing passes here"
    return REASON.format(lacking, "gold" if control.prediction.patch else "no patch", reason)


def _find_record(control: Task, evidence: Evidence) -> Path:
    """Return the file with what is known of an image and tests: empty, or why nothing passes."""
    seen = "\0".join((content_key(control), evidence.engine, evidence.image, evidence.image_digest))
    return default_cache() / "blame" / f"{sha256(seen.encode()).hexdigest()}.txt"


def _read_record(record: Path) -> str | None:
    with suppress(FileNotFoundError):
        return record.read_text(encoding="utf-8")
    return None
