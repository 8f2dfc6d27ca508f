"""One evaluation that several clients wait for, and what a client wants."""

import asyncio
import time
from dataclasses import dataclass, field
from enum import StrEnum

from assay.harness.domain import Instance, Verdict
from assay.harness.engines.cancelling import Cancellation
from assay.harness.evaluation.evaluate import Task


class Stage(StrEnum):
    """How far an evaluation has come."""

    QUEUED = "queued"
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"


class QueueFull(Exception):
    """There is no room for another evaluation, or the service is ending."""

    def __init__(self, problem: str, retry_after: int, *, is_ending: bool = False) -> None:
        super().__init__(problem)
        self.retry_after = retry_after
        self.is_ending = is_ending


@dataclass(frozen=True, slots=True)
class Wanted:
    """A patch that a client wants evaluated."""

    instance: Instance
    patch: str
    timeout: float | None = None
    priority: int = 0
    may_stop: bool = True
    """Whether the outcome is enough, so that a service with ``fail_fast`` need not run all tests."""
    is_own: bool = True
    """Whether the instance is the data set's, whose plan is made once."""


@dataclass(eq=False, slots=True)
class SharedEvaluation:
    """One evaluation, for all clients that ask for its content."""

    id: str
    """The content's key."""
    task: Task | None
    """None once it is finished."""
    priority: int | None = None
    """The highest that a client asked for."""
    is_new: bool = True
    """Whether the queue has not taken it yet."""
    stage: Stage = Stage.QUEUED
    verdict: Verdict | None = None
    seconds: float = 0.0
    """Of the tests."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set whenever the stage changes; whoever waits takes a new one from ``next_change``."""
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    holders: int = 0
    """Clients that wait for it, and those that were given its id."""
    is_given_out: bool = False
    """Whether a client was given its id, and has not ended it."""
    cancellation: Cancellation = field(default_factory=Cancellation)
    asked: float = field(default_factory=time.monotonic)
    finished: float = 0.0

    def move(self, stage: Stage) -> None:
        """Enter a stage, and wake those that wait."""
        self.stage = stage
        before, self.changed = self.changed, asyncio.Event()
        before.set()
        if stage in {Stage.FINISHED, Stage.CANCELLED}:
            self.task = None
            self.finished = time.monotonic()
            self.ended.set()
