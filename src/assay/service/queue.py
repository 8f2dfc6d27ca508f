"""Evaluations on behalf of clients: each content once, in the order of their priorities, bounded, and cancelled alone.

Everything but ``_plan`` and ``_evaluate`` runs in the event loop's thread, so nothing here is locked.
"""

import asyncio
import heapq
import itertools
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar

from assay.api.evaluator import MODEL, Evaluator
from assay.harness.domain import INFRASTRUCTURE, Outcome, Prediction, Verdict
from assay.harness.errors import AssayError, EnvironmentFailure, RunStopped, UserError
from assay.harness.evaluation.evaluate import Task
from assay.harness.runs.keys import content_key, full
from assay.harness.runs.saved import SavedVerdict
from assay.service.book import VerdictBook
from assay.service.figures import Figures
from assay.service.shared import QueueFull, SharedEvaluation, Stage, Wanted

REMEMBERED = 10_000
"""Finished evaluations that are kept in memory."""
FORGIVEN = 600.0
"""Seconds after which an environment that could not be built is tried again when somebody asks."""
READERS = 4
"""Threads that plan evaluations and look for saved verdicts."""
LONGEST_WAIT = 600
"""The longest `Retry-After` of a refusal, in seconds."""
ENDING = 10
"""`Retry-After` of a service that is ending, in seconds."""
ResultT = TypeVar("ResultT")


class EvaluationQueue:
    """Takes evaluations, runs so many at once, and remembers those that are finished."""

    def __init__(self, evaluator: Evaluator, book: VerdictBook, figures: Figures, limit: int) -> None:
        self.evaluator = evaluator
        self.is_draining = False
        self._book = book
        self._figures = figures
        self._limit = limit
        self._plans: dict[str, Task] = {}
        self._open: dict[str, SharedEvaluation] = {}
        self._finished: OrderedDict[str, SharedEvaluation] = OrderedDict()
        self._queue: list[tuple[int, int, SharedEvaluation]] = []
        self._numbers = itertools.count()
        self._running: set[asyncio.Task[None]] = set()
        self._mean = 1.0
        self._jobs = ThreadPoolExecutor(evaluator.jobs, thread_name_prefix="assay-evaluate")
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="assay-read")

    # What clients do

    async def ask(self, wanted: list[Wanted]) -> list[SharedEvaluation]:
        """Return the evaluations of some contents, all or none begun if need be; each has one more holder.

        Raises:
            QueueFull: there is no room for those that are not known yet. UserError: the service is ending.
        """
        planned = [await self._whole(*await self._read(self._plan, each)) for each in wanted]
        known = {key: found for key, _ in planned if (found := await self._known(key))}
        # From here to the end nothing else runs in this thread: what is in no table now is new.
        shared = [self._shared(key, task, known) for key, task in planned]
        self._admit([each for each in dict.fromkeys(shared) if each.is_new])
        for one, each in zip(shared, wanted, strict=True):
            one.holders += 1
            self._raise(one, each.priority)
        self._start()
        return shared

    def release(self, shared: SharedEvaluation) -> None:
        """Take back one holder's hold; without any the evaluation is cancelled, its container too."""
        shared.holders -= 1
        if shared.holders > 0 or shared.ended.is_set():
            return
        if shared.stage is Stage.RUNNING:
            self._forget(shared)
            asyncio.get_running_loop().run_in_executor(self._readers, shared.cancellation.request)
        else:
            self._end(shared, Stage.CANCELLED)
            self._figures.cancelled.inc()

    def give_out(self, shared: SharedEvaluation) -> None:
        """Turn a client's hold into one that stays until ``give_back``, once for all clients that have the id."""
        if shared.is_given_out:
            shared.holders -= 1
        shared.is_given_out = True

    def give_back(self, shared: SharedEvaluation) -> None:
        """End the hold of those that have the id."""
        if shared.is_given_out:
            shared.is_given_out = False
            self.release(shared)

    async def find(self, name: str) -> SharedEvaluation | None:
        """Return an evaluation by its id: one at hand, or one that was finished and saved at any time."""
        return self._open.get(name) or self._finished.get(name) or await self._known(name)

    # Figures

    @property
    def queued(self) -> int:
        """Evaluations that wait for their turn."""
        return sum(1 for each in self._open.values() if each.stage is Stage.QUEUED)

    @property
    def running(self) -> int:
        """Evaluations at work."""
        return len(self._running)

    def retry_after(self, more: int = 1) -> int:
        """Return the seconds after which there should be room, or a result, for so many more."""
        waiting = self.queued + self.running + more
        return max(1, min(LONGEST_WAIT, round(self._mean * waiting / self.evaluator.jobs / 2)))

    # The end

    async def drain(self, seconds: float) -> bool:
        """Take no more, drop what is queued, and let what runs finish; return whether all of it did in time."""
        self.is_draining = True
        for shared in [each for each in self._open.values() if each.stage is Stage.QUEUED]:
            self._end(shared, Stage.CANCELLED)
        spares = asyncio.create_task(asyncio.to_thread(self.evaluator.end_spares))
        if self._running:
            await asyncio.wait(self._running, timeout=seconds)
        await spares
        return not self._running

    async def close(self) -> None:
        """End every container that is at work."""
        self.is_draining = True
        await asyncio.to_thread(self.evaluator.close)
        if self._running:
            await asyncio.wait(self._running, timeout=5)
        self._jobs.shutdown(wait=False, cancel_futures=True)
        self._readers.shutdown(wait=False, cancel_futures=True)

    # In the event loop

    async def _read(self, function: Callable[..., ResultT], *arguments: object) -> ResultT:
        return await asyncio.get_running_loop().run_in_executor(self._readers, function, *arguments)

    async def _whole(self, key: str, task: Task | Verdict) -> tuple[str, Task | Verdict]:
        """Return the evaluation of all tests in place of one that may stop early, if there is one."""
        whole = full(task) if isinstance(task, Task) else None
        if whole is not None and await self._known(content_key(whole)):
            return content_key(whole), whole
        return key, task

    async def _known(self, key: str) -> SharedEvaluation | None:
        """Return a finished evaluation from memory or from the book."""
        if found := self._at_hand(key):
            return found
        saved = await self._read(self._book.find, key)
        return self._remember(_finished_one(key, saved.verdict, saved.seconds)) if saved else None

    def _shared(self, key: str, task: Task | Verdict, known: dict[str, SharedEvaluation]) -> SharedEvaluation:
        """Return the one evaluation of a content; a new one is in ``known`` then."""
        if isinstance(task, Verdict):
            return self._remember(_finished_one(key, task))
        if found := self._at_hand(key) or known.get(key):
            self._figures.reused.inc()
            return found
        known[key] = SharedEvaluation(key, task)
        return known[key]

    def _at_hand(self, key: str) -> SharedEvaluation | None:
        """Return an evaluation that is open, or one whose verdict may be used again."""
        if found := self._open.get(key):
            return found
        found = self._finished.get(key)
        if found is None or found.verdict is None or found.verdict.outcome is Outcome.INFRA_ERROR:
            return None
        if found.verdict.outcome in INFRASTRUCTURE and time.monotonic() - found.finished > FORGIVEN:
            return None
        return found

    def _remember(self, shared: SharedEvaluation) -> SharedEvaluation:
        self._finished[shared.id] = shared
        self._finished.move_to_end(shared.id)
        while len(self._finished) > REMEMBERED:
            self._finished.popitem(last=False)
        return shared

    def _admit(self, new: list[SharedEvaluation]) -> None:
        if new and self.is_draining:
            raise QueueFull("the service is ending; ask again in a moment", ENDING, is_ending=True)
        if self.queued + len(new) > self._limit + self._free:
            raise QueueFull(f"{self.queued} evaluations wait already; ask again later", self.retry_after(len(new)))
        for each in new:
            self._open[each.id] = each
            each.is_new = False

    def _raise(self, shared: SharedEvaluation, priority: int) -> None:
        """Put an evaluation into the queue, or move it forward for a later client's higher priority."""
        if shared.stage is Stage.QUEUED and (shared.priority is None or priority > shared.priority):
            shared.priority = priority
            heapq.heappush(self._queue, (-priority, next(self._numbers), shared))

    @property
    def _free(self) -> int:
        return max(0, self.evaluator.jobs - len(self._running))

    def _start(self) -> None:
        while self._free and self._queue:
            _, _, shared = heapq.heappop(self._queue)
            if shared.stage is Stage.QUEUED:  # else it was cancelled, or began by its higher priority
                shared.move(Stage.RUNNING)
                task = asyncio.get_running_loop().create_task(self._run(shared))
                self._running.add(task)
                task.add_done_callback(self._done)

    def _done(self, task: "asyncio.Task[None]") -> None:
        self._running.discard(task)
        self._start()

    async def _run(self, shared: SharedEvaluation) -> None:
        began = time.monotonic()
        assert shared.task is not None
        try:
            saved = await asyncio.get_running_loop().run_in_executor(self._jobs, self._evaluate, shared)
        except RunStopped:
            self._end(shared, Stage.CANCELLED)
            self._figures.cancelled.inc()
            return
        except Exception as error:  # a bug here costs no client its answer
            reason = f"internal error: {error!r}"
            name = shared.task.instance.id
            saved = SavedVerdict(
                key=shared.id, verdict=Verdict(instance_id=name, outcome=Outcome.INFRA_ERROR, reason=reason)
            )
        shared.verdict, shared.seconds = saved.verdict, saved.seconds
        taken = time.monotonic() - began
        self._mean += 0.2 * (taken - self._mean)
        self._figures.finished(saved, began - shared.asked, taken)
        self._remember(shared)
        self._end(shared, Stage.FINISHED)

    def _end(self, shared: SharedEvaluation, stage: Stage) -> None:
        self._forget(shared)
        shared.move(stage)

    def _forget(self, shared: SharedEvaluation) -> None:
        """Let the next client that asks for the content begin another evaluation."""
        if self._open.get(shared.id) is shared:
            del self._open[shared.id]

    # In other threads

    def _plan(self, wanted: Wanted) -> tuple[str, Task | Verdict]:
        """Return the content's key and the task, or a name and a verdict where planning fails."""
        try:
            planned = self._plans.get(wanted.instance.id) if wanted.is_own else None
            if planned is None:
                nothing = Prediction(instance_id=wanted.instance.id, model=MODEL)
                planned = self.evaluator.task(wanted.instance, nothing)
        except UserError:
            raise
        except AssayError as error:
            is_environment = isinstance(error, EnvironmentFailure)
            outcome = Outcome.ENV_ERROR if is_environment else Outcome.INFRA_ERROR
            return uuid.uuid4().hex, Verdict(instance_id=wanted.instance.id, outcome=outcome, reason=str(error))
        if wanted.is_own:
            self._plans[wanted.instance.id] = planned
        prediction = planned.prediction.model_copy(update={"patch": wanted.patch})
        task = replace(planned, prediction=prediction, fail_fast=planned.fail_fast and wanted.may_stop)
        if wanted.timeout is not None:
            limits = task.plan.limits.model_copy(update={"seconds": wanted.timeout})
            task = replace(task, plan=task.plan.model_copy(update={"limits": limits}))
        return content_key(task), task

    def _evaluate(self, shared: SharedEvaluation) -> SavedVerdict:
        assert shared.task is not None
        verdict, evaluation = self.evaluator.judge_task(shared.task, shared.cancellation)
        return self._book.save(shared.task, evaluation, verdict, shared.id)


def _finished_one(key: str, verdict: Verdict, seconds: float = 0.0) -> SharedEvaluation:
    shared = SharedEvaluation(key, None, verdict=verdict, seconds=seconds)
    shared.move(Stage.FINISHED)
    return shared
