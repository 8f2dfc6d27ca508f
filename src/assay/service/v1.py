"""The service's own routes, below ``/v1``."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from assay.harness.errors import UserError
from assay.rewards import mixture_of, needs_tests
from assay.service import figures
from assay.service.answers import (
    answer,
    evaluation_as_json,
    instance_as_json,
    reward_as_json,
    rewarded_as_json,
    status_of,
)
from assay.service.bodies import MAX_WAIT, BatchBody, EvaluateBody, RewardBody, read_body
from assay.service.desk import ServiceDesk
from assay.service.guard import Refused
from assay.service.routes import HttpRoute
from assay.service.shared import SharedEvaluation, Stage
from assay.version import __version__

PING_SECONDS = 10.0
"""Seconds between two pings of a stream, so that nothing on the way takes it for dead."""
PAGE = 100


def routes(desk: ServiceDesk) -> list[HttpRoute]:
    """Return the routes with what they answer with."""
    doors = _Doors(desk)
    return [
        HttpRoute("POST", "/v1/evaluate", doors.evaluate, "Evaluate a patch.", EvaluateBody),
        HttpRoute(
            "POST", "/v1/evaluate:batch", doors.batch, "Evaluate several patches; all are taken or none.", BatchBody
        ),
        HttpRoute("POST", "/v1/rewards", doors.rewards, "Reward a patch with a number in [0, 1].", RewardBody),
        HttpRoute("GET", "/v1/evaluations/{id}", doors.evaluation, "An evaluation; ?wait=SECONDS waits for its end."),
        HttpRoute(
            "GET", "/v1/evaluations/{id}/events", doors.events, "The stages of an evaluation, as server-sent events."
        ),
        HttpRoute(
            "DELETE", "/v1/evaluations/{id}", doors.leave, "Give up an id; the evaluation ends if nobody else waits."
        ),
        HttpRoute("GET", "/v1/instances", doors.instances, "The instances; ?offset=N&limit=N."),
        HttpRoute("GET", "/v1/instances/{id}", doors.instance, "An instance with its issue."),
        HttpRoute("GET", "/v1/health", doors.health, "Whether the service takes work, and how much there is."),
        HttpRoute("GET", "/metrics", doors.metrics, "Figures for Prometheus."),
    ]


class _Doors:
    def __init__(self, desk: ServiceDesk) -> None:
        self._desk = desk
        self._queue = desk.queue

    async def evaluate(self, request: Request) -> Response:
        body = read_body(EvaluateBody, await request.body())
        async with self._desk.evaluated(request, [self._desk.wanted(body)], body.wait) as (shared,):
            return answer(self._given(shared), status_of(shared))

    async def batch(self, request: Request) -> Response:
        body = read_body(BatchBody, await request.body())
        wanted = [self._desk.wanted(each) for each in body.evaluations]
        async with self._desk.evaluated(request, wanted, body.wait) as shared:
            results = [{"http_status": status_of(each), **self._given(each)} for each in shared]
            return JSONResponse({"results": results})

    async def rewards(self, request: Request) -> Response:
        body = read_body(RewardBody, await request.body())
        try:
            mixture = self._desk.mixture if body.reward is None else mixture_of(body.reward)
        except UserError as error:
            raise Refused(422, f"field reward: {error}") from None
        wanted = self._desk.wanted(body, mixture)
        if not needs_tests(mixture):
            return answer(rewarded_as_json(await self._desk.rewarded(mixture, wanted, None)), 200)
        async with self._desk.evaluated(request, [wanted], body.wait) as (shared,):
            about = self._given(shared)
            if shared.verdict is not None:
                about = reward_as_json(shared, await self._desk.rewarded(mixture, wanted, shared.verdict))
            return answer(about, status_of(shared))

    async def evaluation(self, request: Request) -> Response:
        shared = await self._found(request)
        shared.holders += 1
        try:
            await self._desk.wait(request, [shared], _number(request, "wait", 0.0, MAX_WAIT))
            return answer(evaluation_as_json(shared), status_of(shared))
        finally:
            self._queue.release(shared)

    async def events(self, request: Request) -> Response:
        shared = await self._found(request)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(self._stages(shared), media_type="text/event-stream", headers=headers)

    async def leave(self, request: Request) -> Response:
        shared = await self._found(request)
        self._queue.give_back(shared)
        return JSONResponse(evaluation_as_json(shared))

    async def instances(self, request: Request) -> Response:
        offset, limit = int(_number(request, "offset", 0, 1e9)), int(_number(request, "limit", PAGE, 1000))
        found = self._desk.instances
        page = [instance_as_json(each) for each in found[offset : offset + limit]]
        return JSONResponse({"total": len(found), "offset": offset, "instances": page})

    async def instance(self, request: Request) -> Response:
        return JSONResponse(instance_as_json(self._desk.instance(request.path_params["id"]), is_whole=True))

    async def health(self, _request: Request) -> Response:
        about = {
            "status": "draining" if self._queue.is_draining else "ok",
            "version": __version__,
            "queued": self._queue.queued,
            "running": self._queue.running,
        }
        return JSONResponse(about, status_code=503 if self._queue.is_draining else 200)

    async def metrics(self, _request: Request) -> Response:
        counted = self._desk.figures
        counted.queued.set(self._queue.queued)
        counted.running.set(self._queue.running)
        return Response(counted.text(), headers={"Content-Type": figures.KIND})

    def _given(self, shared: SharedEvaluation) -> dict[str, Any]:
        """Return an evaluation for its client, who gets the id of one that has not ended."""
        if not shared.ended.is_set():
            shared.holders += 1
            self._queue.give_out(shared)
        return evaluation_as_json(shared)

    async def _found(self, request: Request) -> SharedEvaluation:
        name = request.path_params["id"]
        shared = await self._queue.find(name) if name.isalnum() else None
        if shared is None:
            raise Refused(404, "there is no such evaluation; what was not finished when a service ended is asked again")
        return shared

    async def _stages(self, shared: SharedEvaluation) -> AsyncIterator[str]:
        shared.holders += 1
        try:
            stage: Stage | None = None
            while True:
                if shared.stage is not stage:
                    stage = shared.stage
                    yield f"event: {stage}\ndata: {json.dumps(evaluation_as_json(shared))}\n\n"
                if shared.ended.is_set():
                    return
                try:
                    async with asyncio.timeout(PING_SECONDS):
                        await shared.changed.wait()
                except TimeoutError:
                    yield ": ping\n\n"
        finally:
            self._queue.release(shared)


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
