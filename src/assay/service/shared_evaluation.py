"""One evaluation that several clients wait for, and a client's request for one."""

import asyncio
import time
from dataclasses import dataclass, field
from enum import StrEnum

from assay.harness.domain import Instance, Outcome, Verdict
from assay.harness.engines.cancelling import Cancellation
from assay.harness.evaluation.evaluate import Task

ID_HOLDER = "id"
"""The holder that stands for all clients that were given an evaluation's id, until one of them gives it up."""


class Stage(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    instance: Instance
    patch: str
    timeout: float | None = None
    priority: int = 0
    may_stop: bool = True
    """Whether the outcome is enough, so that a service with ``fail_fast`` need not run all tests."""
    is_own: bool = True
    """Whether the instance is the data set's, whose plan is made once."""
    answer: str | None = None
    """What the model wrote, if the patch was read from it."""


@dataclass(eq=False, slots=True)
class SharedEvaluation:
    """One evaluation, for all clients that ask for its content."""

    id: str
    """The content's key."""
    task: Task | None
    """None once it is finished."""
    tree: str = ""
    """Key of the tree that its patch makes; empty if that is not known."""
    priority: int | None = None
    """The highest that a client asked for; None until it is queued."""
    stage: Stage = Stage.QUEUED
    verdict: Verdict | None = None
    seconds: float = 0.0
    """Seconds that the tests took."""
    stages: dict[str, float] = field(default_factory=dict)
    """Seconds by stage; empty until it ended, and for what an earlier process evaluated."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the stage changes, and then replaced by a new event."""
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    holders: set[object] = field(default_factory=set)
    """Clients that wait for it, and ``ID_HOLDER``; without any it is cancelled."""
    cancellation: Cancellation = field(default_factory=Cancellation)
    asked: float = field(default_factory=time.monotonic)
    finished: float = 0.0

    def move(self, stage: Stage) -> None:
        """Enter a stage, and wake everybody who waits."""
        self.stage = stage
        before, self.changed = self.changed, asyncio.Event()
        before.set()
        if stage in {Stage.FINISHED, Stage.CANCELLED}:
            self.task = None
            self.finished = time.monotonic()
            self.ended.set()


def blame_bug(instance_id: str, error: Exception) -> Verdict:
    """Return the verdict for an error that nobody raised on purpose: the infrastructure's, never the patch's."""
    return Verdict(instance_id=instance_id, outcome=Outcome.INFRA_ERROR, reason=f"internal error: {error!r}")
