"""Steps that the routes share: find the instance, evaluate, wait while the client is there, reward."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache, cached_property, partial
from typing import Any, Protocol

from starlette.requests import Request

from assay.api.evaluator import Evaluator
from assay.harness.domain import DatasetRef, Instance, Outcome, Verdict
from assay.harness.edits.solution import ReadText
from assay.harness.errors import DataError, EnvironmentFailure, UserError
from assay.instances.trees.sources import Sources, tree_ref
from assay.jobs.workbench import keep_script
from assay.rewards import Mixture, RewardCase, Rewarded, needs_all_tests, needs_answer, needs_tests, reward
from assay.rewards.answers import read_patch
from assay.service.bodies import MAX_WAIT, EvaluateBody
from assay.service.figures import Figures
from assay.service.guard import ClientLeft, Refused
from assay.service.queue import EvaluationQueue
from assay.service.replies import RETRY_AFTER
from assay.service.shared_evaluation import EvaluationRequest, SharedEvaluation

UNSEEN = Verdict(instance_id="", outcome=Outcome.NOT_RUN, reason="no function asked for the tests")
"""Stands for the verdict where no function needs one."""


class LeavingClient(Protocol):
    """A client that may leave before its answer."""

    async def has_left(self) -> None: ...


class RewardService:
    """The data set, the queue and the figures of one service."""

    def __init__(
        self,
        evaluator: Evaluator,
        queue: EvaluationQueue,
        figures: Figures,
        mixture: Mixture,
        *,
        accepts_instances: bool = False,
    ) -> None:
        self.evaluator = evaluator
        self.queue = queue
        self.figures = figures
        self.mixture = mixture
        """The mixture of a client that names no function."""
        self._accepts_instances = accepts_instances

    @property
    def instances(self) -> Sequence[Instance]:
        return self.evaluator.instances

    def find_instance(self, name: str) -> Instance:
        """Find an instance by its id in any case; raises Refused."""
        try:
            found, _ = self.evaluator.pair(name, "")
        except UserError as error:
            raise Refused(404, str(error)) from None
        return found

    async def make_request(self, body: EvaluateBody, mixture: Mixture | None = None) -> EvaluationRequest:
        """Find or read the body's instance, and the patch of its answer; raises Refused.

        A mixture may need all tests, or an answer.
        """
        is_own = body.instance is None
        instance = self.find_instance(body.instance_id) if body.instance is None else self._read_row(body.instance)
        may_stop = mixture is None or not needs_all_tests(mixture)
        if body.answer is None and mixture is not None and needs_answer(mixture):
            names = ", ".join(name for name in mixture if needs_answer({name: 1.0}))
            raise Refused(422, f"field answer: is missing; {names} rewards what a model wrote, not its patch")
        patch = body.patch or ""
        if body.answer is not None:
            try:
                patch = await asyncio.to_thread(read_patch, body.answer, self._make_reader(instance))
            except EnvironmentFailure as error:
                remedy = "start the service with --mirror DIR, a folder that has a clone of the repository"
                raise Refused(422, f"field answer: the files it edits cannot be read: {error}; {remedy}") from None
        return EvaluationRequest(instance, patch, body.timeout, body.priority, may_stop, is_own, body.answer)

    def _make_reader(self, instance: Instance) -> ReadText:
        return cache(partial(self._sources.read_text, tree_ref(instance)))

    @cached_property
    def _sources(self) -> Sources:
        return self.evaluator.place.make_sources()

    @asynccontextmanager
    async def evaluate(
        self, client: Request | LeavingClient, requests: Sequence[EvaluationRequest], seconds: float
    ) -> AsyncIterator[list[SharedEvaluation]]:
        """Give the evaluations once all have ended or the seconds have passed; hold them until the block ends.

        Raises:
            Refused: ``EvaluationQueue.ask`` says when. ClientLeft: the client left.
        """
        holder, began = object(), time.monotonic()
        evaluations = await self.queue.ask(requests, holder)
        known = {each.id for each in evaluations if each.ended.is_set()}
        try:
            await self.wait(client, evaluations, seconds)
            for each in filter(lambda each: each.ended.is_set(), evaluations):
                ended = time.monotonic() if each.id in known else each.finished
                self.figures.observe_answer(known=each.id in known, seconds=max(0.0, ended - began))
            yield evaluations
        finally:
            for each in evaluations:
                self.queue.release(each, holder)

    async def wait(
        self, client: Request | LeavingClient, evaluations: Sequence[SharedEvaluation], seconds: float
    ) -> None:
        """Wait until all evaluations have ended or the seconds have passed; raises ClientLeft."""
        if all(each.ended.is_set() for each in evaluations) or not seconds:
            return
        leaving = wait_for_disconnect(client) if isinstance(client, Request) else client.has_left()
        left: asyncio.Future[Any] = asyncio.create_task(leaving)
        ended: asyncio.Future[Any] = asyncio.create_task(wait_for_all(evaluations))
        try:
            await asyncio.wait({left, ended}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if left.done() and not ended.done():
                raise ClientLeft
        finally:
            left.cancel()
            ended.cancel()

    async def compute_reward(self, mixture: Mixture, request: EvaluationRequest, verdict: Verdict | None) -> Rewarded:
        """Compute a reward beside the event loop: comparing texts may take seconds."""
        reader = self._make_reader(request.instance)
        case = RewardCase(request.instance, request.patch, verdict or UNSEEN, request.answer, reader)
        return await asyncio.to_thread(reward, mixture, case)

    async def judge(
        self, client: Request | LeavingClient, request: EvaluationRequest
    ) -> tuple[Rewarded, Verdict | None]:
        """Return a reward and the verdict, for protocols whose clients wait as long as it takes and want a number.

        Raises Refused: there is no reward, or not yet.
        """
        verdict = None
        if needs_tests(self.mixture):
            async with self.evaluate(client, [request], MAX_WAIT) as (evaluation,):
                verdict = evaluation.verdict
            if verdict is None:
                retry = {"Retry-After": str(self.queue.retry_after())}
                raise Refused(503, "the evaluation has not finished; ask again for the same content", retry)
        rewarded = await self.compute_reward(self.mixture, request, verdict)
        if rewarded.reward is None:
            raise Refused(503, f"no reward: {rewarded.problem}", {"Retry-After": str(RETRY_AFTER)})
        return rewarded, verdict

    def _read_row(self, row: Mapping[str, Any]) -> Instance:
        """Return the instance of a row that a client sent; raises Refused."""
        from assay.instances.dataset.formats import FORMATS

        if not self._accepts_instances:
            problem = "instances are taken only by a service that was started with --accept-instances"
            raise Refused(403, f"field instance: {problem}; name one of the data set with instance_id")
        dialect = next((each for each in FORMATS.values() if each.matches(dict(row))), None)
        if dialect is None:
            raise Refused(422, f"field instance: is a row of no known dialect; known are {', '.join(FORMATS)}")
        try:
            instance = dialect.to_instance(dict(row), DatasetRef(name="requests"))
        except DataError as error:
            raise Refused(422, f"field instance: {error}") from None
        if any(not each.url.startswith("https://") for each in instance.assets):
            raise Refused(422, "field instance: assets may have https addresses only")
        return keep_script(instance)


async def wait_for_all(evaluations: Sequence[SharedEvaluation]) -> None:
    for each in evaluations:
        await each.ended.wait()


async def wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
