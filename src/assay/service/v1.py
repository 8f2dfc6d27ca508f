"""The service's own routes, below ``/v1``."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from assay.harness.errors import UserError
from assay.rewards import Mixture, mixture_of, needs_tests
from assay.service import figures
from assay.service.bodies import MAX_WAIT, BatchBody, EvaluateBody, RewardBatchBody, RewardBody, read_body
from assay.service.core import RewardService
from assay.service.guard import Refused
from assay.service.replies import (
    evaluation_as_json,
    http_status,
    instance_as_json,
    late_as_json,
    reply,
    reward_as_json,
)
from assay.service.routes import HttpRoute
from assay.service.shared_evaluation import ID_HOLDER, EvaluationRequest, SharedEvaluation, Stage
from assay.version import __version__

PING_SECONDS = 10.0  # seconds between two pings of a stream, so that nothing on the way takes it for dead
PAGE = 100


def routes(service: RewardService) -> list[HttpRoute]:
    handle = _Handlers(service)
    return [
        HttpRoute("POST", "/v1/evaluate", handle.evaluate, "Evaluate a patch.", EvaluateBody),
        HttpRoute(
            "POST", "/v1/evaluate:batch", handle.batch, "Evaluate several patches; all are taken or none.", BatchBody
        ),
        HttpRoute("POST", "/v1/rewards", handle.reward, "Reward a patch, or an answer, with a number.", RewardBody),
        HttpRoute(
            "POST", "/v1/rewards:batch", handle.rewards, "Reward several; all are taken or none.", RewardBatchBody
        ),
        HttpRoute(
            "GET",
            "/v1/rewards",
            handle.report,
            "p50 and p99 of each stage, the slowest samples, what was withdrawn, what is learned.",
        ),
        HttpRoute("GET", "/v1/evaluations/{id}", handle.evaluation, "An evaluation; ?wait=SECONDS waits for its end."),
        HttpRoute(
            "GET", "/v1/evaluations/{id}/events", handle.events, "The stages of an evaluation, as server-sent events."
        ),
        HttpRoute(
            "DELETE", "/v1/evaluations/{id}", handle.leave, "Give up an id; the evaluation ends if nobody else waits."
        ),
        HttpRoute("GET", "/v1/instances", handle.instances, "The instances; ?offset=N&limit=N."),
        HttpRoute("GET", "/v1/instances/{id}", handle.instance, "An instance with its issue."),
        HttpRoute("GET", "/v1/health", handle.health, "Whether the service takes work, and how much there is."),
        HttpRoute("GET", "/metrics", handle.metrics, "Figures for Prometheus."),
    ]


class _Handlers:
    def __init__(self, service: RewardService) -> None:
        self._service = service
        self._queue = service.queue

    async def evaluate(self, request: Request) -> Response:
        body = read_body(EvaluateBody, await request.body())
        wanted = [await self._service.make_request(body)]
        async with self._service.evaluate(request, wanted, body.wait) as (evaluation,):
            return reply(self._give_id(evaluation), http_status(evaluation))

    async def batch(self, request: Request) -> Response:
        body = read_body(BatchBody, await request.body())
        began = time.monotonic()
        wanted = await asyncio.gather(*map(self._service.make_request, body.evaluations))
        async with self._service.evaluate(request, wanted, _seconds_left(body, began)) as evaluations:
            results = [self._item(each, self._give_id(each), body.deadline) for each in evaluations]
            return JSONResponse({"results": results})

    async def reward(self, request: Request) -> Response:
        body = read_body(RewardBody, await request.body())
        mixture = self._read_mixture(body)
        wanted = await self._service.make_request(body, mixture)
        if not needs_tests(mixture):
            return reply(reward_as_json(await self._service.compute_reward(mixture, wanted, None)), 200)
        async with self._service.evaluate(request, [wanted], body.wait) as (evaluation,):
            return reply(await self._reward(evaluation, mixture, wanted, body.step), http_status(evaluation))

    async def rewards(self, request: Request) -> Response:
        body = read_body(RewardBatchBody, await request.body())
        began = time.monotonic()
        mixtures = [self._read_mixture(each) for each in body.rewards]
        wanted = await asyncio.gather(*map(self._service.make_request, body.rewards, mixtures))
        tested = [number for number, mixture in enumerate(mixtures) if needs_tests(mixture)]
        seconds = _seconds_left(body, began)
        async with self._service.evaluate(request, [wanted[number] for number in tested], seconds) as evaluations:
            by_number = dict(zip(tested, evaluations, strict=True))
            results = []
            for number, (mixture, each) in enumerate(zip(mixtures, wanted, strict=True)):
                if evaluation := by_number.get(number):
                    about = await self._reward(evaluation, mixture, each, body.rewards[number].step)
                    results.append(self._item(evaluation, about, body.deadline))
                else:
                    found = await self._service.compute_reward(mixture, each, None)
                    results.append({"http_status": 200, **reward_as_json(found)})
            return JSONResponse({"results": results})

    async def report(self, _request: Request) -> Response:
        queue = self._queue
        parts = (self._service.figures.times, queue.early_stops, queue.probes, queue.learning)
        return JSONResponse({name: value for part in parts for name, value in part.as_json().items()})

    def _read_mixture(self, body: RewardBody) -> Mixture:
        """Return the function, or the mixture, that a client wants; raises Refused."""
        try:
            return self._service.mixture if body.reward is None else mixture_of(body.reward)
        except UserError as error:
            raise Refused(422, f"field reward: {error}") from None

    async def _reward(
        self, evaluation: SharedEvaluation, mixture: Mixture, wanted: EvaluationRequest, step: int | None
    ) -> dict[str, Any]:
        about = self._give_id(evaluation)
        if evaluation.verdict is not None:
            about |= reward_as_json(await self._service.compute_reward(mixture, wanted, evaluation.verdict))
            self._queue.learn(step, wanted, evaluation.verdict)
            about |= {"growing_kinds": growing} if (growing := self._queue.learning.growing) else {}
        return about

    def _item(self, evaluation: SharedEvaluation, about: dict[str, Any], deadline: float | None) -> dict[str, Any]:
        """Return one answer of a batch; one that is late has the reward null."""
        if deadline is not None and "reward" not in about:
            self._service.figures.late.inc()
            about = late_as_json(evaluation, deadline)
        return {"http_status": http_status(evaluation), **about}

    async def evaluation(self, request: Request) -> Response:
        evaluation = await self._find(request)
        with self._queue.hold(evaluation):
            await self._service.wait(request, [evaluation], _number(request, "wait", 0.0, MAX_WAIT))
            return reply(evaluation_as_json(evaluation), http_status(evaluation))

    async def events(self, request: Request) -> Response:
        evaluation = await self._find(request)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(self._stream(evaluation), media_type="text/event-stream", headers=headers)

    async def leave(self, request: Request) -> Response:
        evaluation = await self._find(request)
        self._queue.release(evaluation, ID_HOLDER)
        return JSONResponse(evaluation_as_json(evaluation))

    async def instances(self, request: Request) -> Response:
        offset, limit = int(_number(request, "offset", 0, 1e9)), int(_number(request, "limit", PAGE, 1000))
        found = self._service.instances
        page = [instance_as_json(each) for each in found[offset : offset + limit]]
        return JSONResponse({"total": len(found), "offset": offset, "instances": page})

    async def instance(self, request: Request) -> Response:
        instance = self._service.find_instance(request.path_params["id"])
        return JSONResponse(instance_as_json(instance, is_whole=True))

    async def health(self, _request: Request) -> Response:
        about = {
            "status": "draining" if self._queue.is_draining else "ok",
            "version": __version__,
            "queued": self._queue.queued,
            "running": self._queue.running,
        }
        return JSONResponse(about, status_code=503 if self._queue.is_draining else 200)

    async def metrics(self, _request: Request) -> Response:
        found = self._service.figures
        found.queued.set(self._queue.queued)
        found.running.set(self._queue.running)
        return Response(found.text(), headers={"Content-Type": figures.KIND})

    def _give_id(self, evaluation: SharedEvaluation) -> dict[str, Any]:
        """Return an evaluation for a client, whose id keeps one going that has not ended."""
        if not evaluation.ended.is_set():
            evaluation.holders.add(ID_HOLDER)
        withdrawals = self._queue.probes.withdrawals
        return evaluation_as_json(evaluation) | ({"withdrawals": withdrawals} if withdrawals else {})

    async def _find(self, request: Request) -> SharedEvaluation:
        name = request.path_params["id"]
        found = await self._queue.find(name) if name.isalnum() else None
        if found is None:
            raise Refused(404, "there is no such evaluation; what was not finished when a service ended is asked again")
        return found

    async def _stream(self, evaluation: SharedEvaluation) -> AsyncIterator[str]:
        with self._queue.hold(evaluation):
            stage: Stage | None = None
            while True:
                if evaluation.stage is not stage:
                    stage = evaluation.stage
                    yield f"event: {stage}\ndata: {json.dumps(evaluation_as_json(evaluation))}\n\n"
                if evaluation.ended.is_set():
                    return
                try:
                    async with asyncio.timeout(PING_SECONDS):
                        await evaluation.changed.wait()
                except TimeoutError:
                    yield ": ping\n\n"


def _seconds_left(body: BatchBody | RewardBatchBody, began: float) -> float:
    """Return the seconds that a batch may still wait; a deadline counts from the question, ``wait`` from here."""
    return body.wait if body.deadline is None else max(0.0, began + body.deadline - time.monotonic())


def _number(request: Request, name: str, default: float, most: float) -> float:
    """Return a number of the query; raises Refused for anything else."""
    given = request.query_params.get(name)
    try:
        found = float(given) if given is not None else default
    except ValueError:
        found = -1.0
    if not 0 <= found <= most:
        raise Refused(422, f"field {name}: is {given!r}; write a number from 0 to {most:.0f}")
    return found
