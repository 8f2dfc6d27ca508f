"""What a run shows to a person while it works; a front door gives one, and the library shows nothing."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

from assay.harness.domain import Cause, Instance, PatchDiffResult
from assay.harness.evaluation.evaluate import Task
from assay.harness.runs.crew import Progress
from assay.harness.runs.each import Done
from assay.harness.runs.saved import SavedVerdict


class View(Protocol):
    """Shows a run to a person while it works; every method may be called in any thread."""

    every: float
    """Seconds between two notes on a long comparison."""

    def say(self, text: str, /) -> None:
        """Print a line beside the result."""

    def note(self, text: str, /) -> None:
        """Show the current step of something slow."""

    def evaluating(
        self, total: int, title: str, seconds: Mapping[str, float], /
    ) -> AbstractContextManager[Progress[Task, SavedVerdict]]:
        """Show the progress of ``total`` evaluations; ``seconds`` of earlier tests, by instance id."""

    def doing(self, total: int, verb: str, /) -> AbstractContextManager[Progress[Instance, Done]]:
        """Show the progress of a ``verb``, such as ``building``, done for ``total`` instances."""

    def comparing(self, total: int, /) -> AbstractContextManager[Progress[Task, PatchDiffResult]]:
        """Show the progress of ``total`` comparisons with gold."""

    def tracing(self, total: int, /) -> AbstractContextManager[Progress[Task, Cause]]:
        """Show the progress of ``total`` searches for causes."""


class Quiet:
    every = 30.0

    def say(self, text: str) -> None:
        pass

    note = say

    def evaluating(self, *_: Any) -> AbstractContextManager[Progress[Any, Any]]:
        return nullcontext(Progress())

    doing = comparing = tracing = evaluating
