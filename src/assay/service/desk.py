"""What every door of the service does for a client: find the instance, evaluate, wait while the client is there."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol

from starlette.requests import Request

from assay.api.evaluator import Evaluator
from assay.harness.domain import DatasetRef, Instance, Outcome, PublishedImage, Verdict
from assay.harness.errors import DataError, UserError
from assay.rewards import Mixture, RewardCase, Rewarded, needs_all_tests, needs_tests, reward
from assay.service.bodies import EvaluateBody
from assay.service.figures import Figures
from assay.service.guard import Refused
from assay.service.queue import EvaluationQueue
from assay.service.shared import QueueFull, SharedEvaluation, Wanted

UNSEEN = Verdict(instance_id="", outcome=Outcome.NOT_RUN, reason="no function asked for the tests")
"""Stands for the verdict where no function needs one."""


class ServiceDesk:
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
        """Of the clients that name no function."""
        self._accepts_instances = accepts_instances
        self._by_id = {each.id.lower(): each for each in evaluator.instances}

    @property
    def instances(self) -> Sequence[Instance]:
        """The data set's instances."""
        return self.evaluator.instances

    def instance(self, name: str) -> Instance:
        """Return an instance by its id in any case; raises Refused."""
        found = self._by_id.get(name.lower())
        if found is None:
            try:
                found, _ = self.evaluator.pair(name, "")
            except UserError as error:
                raise Refused(404, str(error)) from None
        return found

    def wanted(self, body: EvaluateBody, mixture: Mixture | None = None) -> Wanted:
        """Return what a body asks for, for functions that may need all tests; raises Refused."""
        is_own = body.instance is None
        instance = self.instance(body.instance_id) if body.instance is None else self._own_instance(body.instance)
        may_stop = mixture is None or not needs_all_tests(mixture)
        return Wanted(instance, body.patch, body.timeout, body.priority, may_stop, is_own)

    async def begin(self, wanted: Sequence[Wanted]) -> list[SharedEvaluation]:
        """Return evaluations with a hold on each; raises Refused if there is no room, or a patch cannot be planned."""
        try:
            return await self.queue.ask(list(wanted))
        except QueueFull as full:
            self.figures.refused.inc()
            retry = {"Retry-After": str(full.retry_after)}
            raise Refused(503 if full.is_ending else 429, str(full), retry) from None
        except UserError as error:
            raise Refused(422, str(error)) from None

    @asynccontextmanager
    async def evaluated(
        self, client: "Leaving", wanted: Sequence[Wanted], seconds: float
    ) -> AsyncIterator[list[SharedEvaluation]]:
        """Give evaluations once all have ended or the seconds have passed; holds end with the block.

        Raises:
            Refused: there is no room. Gone: the client left.
        """
        shared = await self.begin(wanted)
        try:
            await self.wait(client, shared, seconds)
            yield shared
        finally:
            for each in shared:
                self.queue.release(each)

    async def wait(self, client: "Leaving", shared: Sequence[SharedEvaluation], seconds: float) -> None:
        """Wait until all evaluations have ended, or so long; raises Gone when the client leaves before."""
        if all(each.ended.is_set() for each in shared) or not seconds:
            return
        gone = asyncio.create_task(disconnected(client) if isinstance(client, Request) else client.has_left())
        ended = asyncio.create_task(_all_ended(shared))
        try:
            await asyncio.wait({gone, ended}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if gone.done() and not ended.done():
                raise Gone
        finally:
            gone.cancel()
            ended.cancel()

    async def rewarded(self, mixture: Mixture, wanted: Wanted, verdict: Verdict | None) -> Rewarded:
        """Return a reward, computed beside the event loop: comparing texts may take seconds."""
        case = RewardCase(wanted.instance, wanted.patch, verdict or UNSEEN)
        return await asyncio.to_thread(reward, mixture, case)

    async def judge(self, client: "Leaving", body: EvaluateBody, mixture: Mixture) -> tuple[Rewarded, Verdict | None]:
        """Return a reward and the verdict, for the doors whose clients wait as long as it takes.

        Raises:
            Refused: there is no room, or the evaluation was cancelled. Gone: the client left.
        """
        wanted = self.wanted(body, mixture)
        if not needs_tests(mixture):
            return await self.rewarded(mixture, wanted, None), None
        async with self.evaluated(client, [wanted], body.wait) as (shared,):
            if shared.verdict is None:
                retry = {"Retry-After": str(self.queue.retry_after())}
                raise Refused(503, "the evaluation has not finished; ask again for the same content", retry)
            return await self.rewarded(mixture, wanted, shared.verdict), shared.verdict

    def _own_instance(self, row: Mapping[str, Any]) -> Instance:
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
        if isinstance(instance.environment, PublishedImage):
            return instance.model_copy(update={"environment": None})
        return instance


class LeavingClient(Protocol):
    """A client that may leave before its answer."""

    async def has_left(self) -> None:
        """Return when it has."""
        ...


Leaving = Request | LeavingClient


class Gone(Exception):
    """The client left before its answer."""


async def _all_ended(shared: Sequence[SharedEvaluation]) -> None:
    for each in shared:
        await each.ended.wait()


async def disconnected(request: Request) -> None:
    """Return when the client has closed the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
