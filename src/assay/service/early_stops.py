"""Checks early stops: a share of what ``fail_fast`` decided is evaluated in full, and a wrong one ends them.

A stop is checked after it happened, so nothing in its container can know of the check.
"""

import threading
from dataclasses import dataclass, field, replace
from random import SystemRandom
from typing import Any

from assay.api.evaluator import Evaluator
from assay.harness.domain import INFRASTRUCTURE, Verdict
from assay.harness.engines.cancelling import Cancellation
from assay.harness.evaluation.evaluate import Evaluation, Task
from assay.harness.grading.grade import STOPPED_EARLY
from assay.harness.statistics import clopper_pearson
from assay.service.figures import Figures


@dataclass(eq=False, slots=True)
class EarlyStops:
    """Judges for a service that stops early; safe in several threads. Its counts end with the process."""

    evaluator: Evaluator
    figures: Figures
    share: float = 0.0
    """The share of stops that are checked."""
    limit: float = 1.0
    """The share of wrong stops that the checks have to exclude, once one was wrong."""
    checked: int = 0
    wrong: list[str] = field(default_factory=list)
    """The instance of each wrong stop."""
    _chance: SystemRandom = field(default_factory=SystemRandom)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def bound(self) -> float:
        """The upper end of the exact interval (95 %, two-sided) of the share of wrong stops; 1 without a check."""
        return clopper_pearson(len(self.wrong), self.checked).high

    @property
    def have_ended(self) -> bool:
        return bool(self.wrong) and self.bound > self.limit

    def may_stop(self, instance_id: str) -> bool:
        """Return whether evaluations of an instance may stop early; all tests run where a stop was wrong."""
        return instance_id not in self.wrong and not self.have_ended

    def judge(self, task: Task, cancellation: Cancellation) -> tuple[Verdict, Evaluation]:
        """Judge as ``Evaluator.judge_task`` does; the verdict of a stop that is checked is that on all tests.

        Where the engine or the environment fails in the check, the stop counts as unchecked.
        """
        verdict, evaluation = self.evaluator.judge_task(task, cancellation)
        if STOPPED_EARLY not in verdict.flags or self._chance.random() >= self.share:
            return verdict, evaluation
        whole, of_all_tests = self.evaluator.judge_task(replace(task, fail_fast=False), cancellation)
        if whole.outcome in INFRASTRUCTURE:
            return verdict, evaluation
        self._note(task.instance.id, is_wrong=whole.resolved)
        return whole, of_all_tests

    def _note(self, instance_id: str, *, is_wrong: bool) -> None:
        with self._lock:
            self.checked += 1
            if is_wrong:
                self.wrong.append(instance_id)
            self.figures.checked_stops.labels("wrong" if is_wrong else "right").inc()
            self.figures.wrong_stops.set(self.bound)

    def as_json(self) -> dict[str, Any]:
        found = {"checked": self.checked, "wrong": self.wrong, "bound": self.bound, "ended": self.have_ended}
        return {"early_stops": found}
