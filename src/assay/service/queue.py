"""Evaluations on behalf of clients: each content once, in the order of their priorities, bounded, and cancelled alone.

Everything but ``_plan`` and ``_evaluate`` runs in the event loop's thread, so nothing here is locked.
"""

import asyncio
import heapq
import itertools
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TypeVar

from assay.api.evaluator import MODEL, Evaluator
from assay.choices import HoldChoice
from assay.harness.domain import INFRASTRUCTURE, Outcome, Prediction, Verdict
from assay.harness.errors import AssayError, EnvironmentFailure, RunStopped, UserError
from assay.harness.evaluation.evaluate import Task
from assay.harness.runs.keys import content_key, drop_fail_fast
from assay.harness.runs.saved import SavedVerdict
from assay.service.early_stops import EarlyStops
from assay.service.figures import Figures
from assay.service.guard import Refused
from assay.service.learning import Learning
from assay.service.probes import Prober, UnprovenAnswer
from assay.service.same_trees import SameTrees
from assay.service.shared_evaluation import ID_HOLDER, EvaluationRequest, SharedEvaluation, Stage, blame_bug
from assay.service.stages import Sample, measure_stages
from assay.service.verdict_store import VerdictStore

REMEMBERED = 10_000  # finished evaluations that are kept in memory
FORGIVEN = 600.0
"""Seconds after which an environment that could not be built is tried again when somebody asks."""
READERS = 4  # threads that plan evaluations and look for saved verdicts
LONGEST_WAIT = 600  # the longest `Retry-After` of a refusal, in seconds
ENDING = 10  # `Retry-After` of a service that is ending, in seconds
LAST = -1000  # priority below every client's
ResultT = TypeVar("ResultT")


class EvaluationQueue:
    """Takes evaluations, runs ``jobs`` of them at once, and remembers the finished ones."""

    def __init__(
        self,
        evaluator: Evaluator,
        store: VerdictStore,
        figures: Figures,
        limit: int,
        probe_share: float = 0.0,
        cause_evaluations: int = 0,
    ) -> None:
        self.evaluator = evaluator
        self.is_draining = False
        self._store = store
        self.figures = figures
        self.early_stops = EarlyStops(evaluator, figures)
        self._limit = limit
        self._trees = SameTrees(evaluator.place.make_sources())
        self._plans: dict[str, Task] = {}
        self._parked: dict[str, list[SharedEvaluation]] = {}
        """Queued evaluations of trees that are being evaluated, by tree."""
        self._open: dict[str, SharedEvaluation] = {}
        self._finished: OrderedDict[str, SharedEvaluation] = OrderedDict()
        self._queue: list[tuple[int, int, SharedEvaluation]] = []
        self._numbers = itertools.count()
        self._running: set[asyncio.Task[None]] = set()
        self._holding: set[asyncio.Task[None]] = set()
        """Those whose answers wait for a probe."""
        self._mean = 1.0
        self._jobs = ThreadPoolExecutor(evaluator.place.jobs, thread_name_prefix="assay-evaluate")
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="assay-read")
        self.learning = Learning(evaluator, figures, self._jobs, cause_evaluations)
        self.probes = Prober(
            evaluator, figures, self._jobs, probe_share, store.folder / ".unproven", self._forget, self._evaluate_again
        )

    def hold_answers(self, choice: HoldChoice) -> None:
        """Hold answers from now on; raises UserError where no probe could ever prove one."""
        self.probes.hold_answers(choice, is_idle=lambda: not self._running and not self.queued)

    # What clients do

    async def ask(self, requests: Sequence[EvaluationRequest], holder: object) -> list[SharedEvaluation]:
        """Return the evaluations of some contents, each held by ``holder``. All that are new begin, or none.

        Raises Refused: there is no room for the new ones, the service is ending, or a patch cannot be planned.
        """
        known: dict[str, SharedEvaluation] = {}
        prepared = [await self._prepare(request, known) for request in requests]
        # From here to the end nothing else runs in this thread: what is in no table now is new.
        evaluations = [self._find_or_make(key, task, known) for key, task, _, _ in prepared]
        self._admit([each for each in dict.fromkeys(evaluations) if each.priority is None and each.task])
        for evaluation, request, (_, _, tree, seconds) in zip(evaluations, requests, prepared, strict=True):
            if evaluation.priority is None and evaluation.task:
                evaluation.stages["plan"], evaluation.tree = seconds, tree
            evaluation.holders.add(holder)
            self._enqueue(evaluation, request.priority)
        self._start()
        return evaluations

    async def _prepare(
        self, request: EvaluationRequest, known: dict[str, SharedEvaluation]
    ) -> tuple[str, Task | Verdict, str, float]:
        """Plan what is asked for: key, task, key of the tree, seconds; put into ``known`` what answers it."""
        began, tree = time.monotonic(), ""
        key, task = await self._read(self._plan, request)
        whole = drop_fail_fast(task) if isinstance(task, Task) else None
        if whole is not None and await self._find_usable(content_key(whole)):
            key, task = content_key(whole), whole  # an evaluation of all tests, in place of one that may stop early
        if found := known.get(key) or await self._find_usable(key):
            known[key] = found
        elif refused := self.probes.refuse(request.instance.id):
            key, task = uuid.uuid4().hex, refused
        elif isinstance(task, Task):
            tree, saved = await self._read(self._find_tree, key, task)
            if saved is not None:
                known[key] = self._make_finished(key, saved.verdict, saved.seconds)
                self.probes.add(UnprovenAnswer(key, saved.verdict.instance_id, saved.verdict.reward, task))
                self.figures.same_tree.inc()
        return key, task, tree, time.monotonic() - began

    @contextmanager
    def hold(self, evaluation: SharedEvaluation) -> Iterator[None]:
        """Keep an evaluation going until the block ends."""
        holder = object()
        evaluation.holders.add(holder)
        try:
            yield
        finally:
            self.release(evaluation, holder)

    def release(self, evaluation: SharedEvaluation, holder: object) -> None:
        """Take a holder away; without any the evaluation is cancelled, its container too."""
        evaluation.holders.discard(holder)
        if evaluation.holders or evaluation.ended.is_set() or self.probes.is_held(evaluation.id):
            return
        if evaluation.stage is Stage.RUNNING:
            self._withdraw(evaluation)
            asyncio.get_running_loop().run_in_executor(self._readers, evaluation.cancellation.request)
        else:
            self._end(evaluation, Stage.CANCELLED)
            self.figures.cancelled.inc()

    async def find(self, name: str) -> SharedEvaluation | None:
        """Find an evaluation by its id, whether it is open, was finished, or was saved by an earlier process."""
        return self._open.get(name) or self._finished.get(name) or await self._find_usable(name)

    def learn(self, step: int | None, request: EvaluationRequest, verdict: Verdict) -> None:
        """Note the verdict on a sample of a step; only for instances of the data set."""
        planned = self._plans.get(request.instance.id)
        if planned is not None and request.is_own:
            prediction = planned.prediction.model_copy(update={"patch": request.patch})
            self.learning.note(step, replace(planned, prediction=prediction), verdict)

    # Figures

    @property
    def queued(self) -> int:
        return sum(1 for each in self._open.values() if each.stage is Stage.QUEUED)

    @property
    def running(self) -> int:
        return len(self._running)

    def retry_after(self, more: int = 1) -> int:
        """Estimate the seconds until there is room, or a result, for ``more`` evaluations."""
        waiting = self.queued + self.running + more
        return max(1, min(LONGEST_WAIT, round(self._mean * waiting / self.evaluator.place.jobs / 2)))

    # The end

    async def drain(self, seconds: float) -> bool:
        """Refuse new evaluations, cancel the queued ones, and wait for the running ones.

        Returns:
            Whether all of them ended in time.
        """
        self.is_draining = True
        for evaluation in [each for each in self._open.values() if each.stage is Stage.QUEUED]:
            self._end(evaluation, Stage.CANCELLED)
        spares = asyncio.create_task(asyncio.to_thread(self.evaluator.place.end_spares))
        self.probes.begin_if_idle()
        limit = time.monotonic() + seconds
        for tasks in (self._running, self._holding):
            if tasks:
                await asyncio.wait(tasks, timeout=max(0.0, limit - time.monotonic()))
        await spares
        return not self._running and not self._holding

    async def close(self) -> None:
        """End every container that is at work."""
        self.is_draining = True
        self.probes.end()
        self.learning.end()
        await asyncio.to_thread(self.evaluator.close)
        if self._running:
            await asyncio.wait(self._running, timeout=5)
        self._jobs.shutdown(wait=False, cancel_futures=True)
        self._readers.shutdown(wait=False, cancel_futures=True)

    # In the event loop

    async def _read(self, function: Callable[..., ResultT], *arguments: object) -> ResultT:
        return await asyncio.get_running_loop().run_in_executor(self._readers, function, *arguments)

    async def _find_usable(self, key: str) -> SharedEvaluation | None:
        """Find an open evaluation, or a finished one, in memory or on disk, that answers a new request."""
        if found := self._find_in_memory(key):
            return found
        saved = await self._read(self._store.find, key)
        return self._make_finished(key, saved.verdict, saved.seconds) if saved else None

    def _find_in_memory(self, key: str) -> SharedEvaluation | None:
        found = self._open.get(key) or self._finished.get(key)
        if found is None or found.verdict is None:
            return found
        age = time.monotonic() - found.finished
        is_stale = found.verdict.outcome in INFRASTRUCTURE and age > FORGIVEN
        return None if is_stale or found.verdict.outcome is Outcome.INFRA_ERROR else found

    def _find_or_make(self, key: str, task: Task | Verdict, known: dict[str, SharedEvaluation]) -> SharedEvaluation:
        """Return the one evaluation of a content; put a new one into ``known``."""
        if isinstance(task, Verdict):
            return self._make_finished(key, task)
        if found := self._find_in_memory(key) or known.get(key):
            self.figures.reused.inc()
            return found
        known[key] = SharedEvaluation(key, task)
        return known[key]

    def _make_finished(self, key: str, verdict: Verdict, seconds: float = 0.0) -> SharedEvaluation:
        evaluation = SharedEvaluation(key, None, verdict=verdict, seconds=seconds)
        evaluation.move(Stage.FINISHED)
        self._remember(evaluation)
        return evaluation

    def _remember(self, evaluation: SharedEvaluation) -> None:
        self._finished[evaluation.id] = evaluation
        self._finished.move_to_end(evaluation.id)
        while len(self._finished) > REMEMBERED:
            self._finished.popitem(last=False)

    def _admit(self, new: Sequence[SharedEvaluation]) -> None:
        """Put new evaluations into the table of open ones; raises Refused if there is no room for all."""
        if new and self.is_draining:
            raise self._refuse(503, "the service is ending; ask again in a moment", ENDING)
        if self.queued + len(new) > self._limit + self._free:
            problem = f"{self.queued} evaluations wait already; ask again later"
            raise self._refuse(429, problem, self.retry_after(len(new)))
        self._open |= {each.id: each for each in new}

    def _refuse(self, status: int, problem: str, retry_after: int) -> Refused:
        self.figures.refused.inc()
        return Refused(status, problem, {"Retry-After": str(retry_after)})

    def _enqueue(self, evaluation: SharedEvaluation, priority: int) -> None:
        """Put an evaluation into the queue, or move it forward for a later client's higher priority."""
        if evaluation.stage is Stage.QUEUED and (evaluation.priority is None or priority > evaluation.priority):
            evaluation.priority = priority
            heapq.heappush(self._queue, (-priority, next(self._numbers), evaluation))

    @property
    def _free(self) -> int:
        return max(0, self.evaluator.place.jobs - len(self._running))

    def _start(self) -> None:
        while self._free and self._queue:
            _, _, evaluation = heapq.heappop(self._queue)
            if evaluation.stage is Stage.QUEUED and evaluation.tree in self._parked:
                self._parked[evaluation.tree].append(evaluation)
            elif evaluation.stage is Stage.QUEUED:  # else it was cancelled, or began by its higher priority
                if evaluation.tree:
                    self._parked[evaluation.tree] = []
                evaluation.move(Stage.RUNNING)
                task = asyncio.get_running_loop().create_task(self._run(evaluation))
                self._running.add(task)
                task.add_done_callback(partial(self._start_next, evaluation.tree))

    def _start_next(self, tree: str, ended: "asyncio.Task[None]") -> None:
        self._running.discard(ended)
        for evaluation in self._parked.pop(tree, ()):
            heapq.heappush(self._queue, (-(evaluation.priority or 0), next(self._numbers), evaluation))
        self._start()
        self.probes.begin_if_idle()

    async def _run(self, evaluation: SharedEvaluation) -> None:
        began, task = time.monotonic(), evaluation.task
        assert task is not None
        try:
            saved = await asyncio.get_running_loop().run_in_executor(self._jobs, self._evaluate, evaluation)
        except RunStopped:
            self._end(evaluation, Stage.CANCELLED)
            self.figures.cancelled.inc()
            return
        except Exception as error:  # a bug here costs no client its answer
            saved = SavedVerdict(key=evaluation.id, verdict=blame_bug(task.instance.id, error))
        if refused := self.probes.refuse(task.instance.id):
            self._store.forget(evaluation.id)
            saved = SavedVerdict(key=evaluation.id, verdict=refused)
        taken = time.monotonic() - began
        evaluation.stages["queue"] = began - evaluation.asked
        self._mean += 0.2 * (taken - self._mean)
        proof = self.probes.note(evaluation.id, task, saved.verdict, taken, self._plans.get(task.instance.id))
        if proof is None:
            self._finish(evaluation, saved, taken)
        else:
            holding = asyncio.create_task(self._finish_when_proven(evaluation, saved, taken, proof))
            self._holding.add(holding)
            holding.add_done_callback(self._holding.discard)

    async def _finish_when_proven(
        self, evaluation: SharedEvaluation, saved: SavedVerdict, taken: float, proof: "asyncio.Future[bool]"
    ) -> None:
        began = time.monotonic()
        if not await proof:
            saved = SavedVerdict(key=evaluation.id, verdict=self.probes.withdraw(saved.verdict.instance_id))
        evaluation.stages["hold"] = time.monotonic() - began
        self._finish(evaluation, saved, taken)

    def _finish(self, evaluation: SharedEvaluation, saved: SavedVerdict, taken: float) -> None:
        evaluation.verdict, evaluation.seconds = saved.verdict, saved.seconds
        self.figures.observe_sample(Sample(evaluation.id, saved.verdict.instance_id, evaluation.stages))
        self.figures.observe(saved, evaluation.stages["queue"], taken)
        self._remember(evaluation)
        self._end(evaluation, Stage.FINISHED)

    def _end(self, evaluation: SharedEvaluation, stage: Stage) -> None:
        self._withdraw(evaluation)
        evaluation.move(stage)

    def _forget(self, key: str) -> None:
        self._finished.pop(key, None)
        self._store.forget(key)

    def _evaluate_again(self, key: str, task: Task) -> None:
        """Evaluate a content whose verdict was withdrawn, when nothing else is to be done."""
        if not self.is_draining and self._find_in_memory(key) is None:
            evaluation = self._open[key] = SharedEvaluation(key, task, holders={ID_HOLDER})
            self._enqueue(evaluation, LAST)
            self._start()

    def _withdraw(self, evaluation: SharedEvaluation) -> None:
        """Let the next client that asks for the content begin another evaluation."""
        if self._open.get(evaluation.id) is evaluation:
            del self._open[evaluation.id]

    # In other threads

    def _plan(self, request: EvaluationRequest) -> tuple[str, Task | Verdict]:
        """Return the content's key and the task, or a name and a verdict where the environment or engine fails.

        Raises Refused: the instance or its recipe is wrong.
        """
        name = request.instance.id
        try:
            planned = self._plans.get(name) if request.is_own else None
            planned = planned or self.evaluator.place.task(request.instance, Prediction(instance_id=name, model=MODEL))
        except UserError as error:
            raise Refused(422, str(error)) from None
        except AssayError as error:
            is_environment = isinstance(error, EnvironmentFailure)
            outcome = Outcome.ENV_ERROR if is_environment else Outcome.INFRA_ERROR
            return uuid.uuid4().hex, Verdict(instance_id=name, outcome=outcome, reason=str(error))
        if request.is_own:
            self._plans[name] = planned
        prediction = planned.prediction.model_copy(update={"patch": request.patch})
        may_stop = request.may_stop and self.early_stops.may_stop(name)
        task = replace(planned, prediction=prediction, fail_fast=planned.fail_fast and may_stop)
        if request.timeout is not None:
            limits = task.plan.limits.model_copy(update={"seconds": request.timeout})
            task = replace(task, plan=task.plan.model_copy(update={"limits": limits}))
        return content_key(task), task

    def _find_tree(self, key: str, task: Task) -> tuple[str, SavedVerdict | None]:
        """Return the key of a patch's tree, and the verdict on it if another patch has one that need not be held."""
        tree, is_open = self._trees.find_key(task), self.probes.hold is HoldChoice.NONE
        return tree, self._store.find_tree(tree, key) if tree and is_open else None

    def _evaluate(self, evaluation: SharedEvaluation) -> SavedVerdict:
        assert evaluation.task is not None
        if refused := self.probes.refuse(evaluation.task.instance.id):
            return SavedVerdict(key=evaluation.id, verdict=refused)
        if evaluation.tree and (same := self._store.find_tree(evaluation.tree, evaluation.id)):
            self.figures.same_tree.inc()
            return same
        began = time.monotonic()
        verdict, result = self.early_stops.judge(evaluation.task, evaluation.cancellation)
        judged = time.monotonic()
        saved = self._store.save(evaluation.task, result, verdict, evaluation.id)
        steps = measure_stages(result.evidence.timings, judged - began)
        evaluation.stages |= steps | {"save": time.monotonic() - judged}
        if evaluation.tree and result.evidence.apply.on_base and verdict.outcome not in INFRASTRUCTURE:
            self._store.add_tree(evaluation.tree, evaluation.id)
        return saved
