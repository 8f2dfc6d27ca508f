"""The routes of the Open Reward Standard: a session is one instance, whose only tool takes the patch.

A failure of the infrastructure is an error event, so that the client raises; it is never an output with a reward.
"""

import asyncio
import json
import time
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel, Field, model_validator
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from assay.harness.domain import Instance
from assay.rewards import Rewarded, needs_tests
from assay.service.bodies import read_body
from assay.service.core import RewardService
from assay.service.guard import Refused
from assay.service.replies import CANCELLED, instance_as_json
from assay.service.routes import HttpRoute, answer_always
from assay.service.shared_evaluation import EvaluationRequest, SharedEvaluation
from assay.version import __version__

NAME = "assay"
SPLIT = "train"
SCHEMA = {
    "type": "object",
    "properties": {"patch": {"type": "string", "description": "a unified diff"}},
    "required": ["patch"],
}
TOOL_NAME = "submit_patch"
TOOL = {"name": TOOL_NAME, "description": "Submit the patch; this ends the task.", "input_schema": SCHEMA}
STALE = 900.0  # seconds without a sign of its client after which a session ends
PING_SECONDS = 10.0
CHUNK = 4096  # characters of a result in one event
TASK = "Resolve this issue with a patch, a unified diff against the commit {commit} of {repo}:\n\n{issue}"


class SplitBody(BaseModel, frozen=True, extra="forbid"):
    """The split whose tasks are asked for."""

    split: str = SPLIT

    @model_validator(mode="after")
    def _is_the_split(self) -> "SplitBody":
        if self.split != SPLIT:
            raise ValueError(f"there is no split {self.split!r}; name {SPLIT}")
        return self


class TaskBody(SplitBody, frozen=True):
    """One task by its number."""

    index: int


class TaskRangeBody(SplitBody, frozen=True):
    """Tasks by their numbers, as a slice of Python."""

    start: int | None = None
    stop: int | None = None


class CreateBody(BaseModel, frozen=True, extra="forbid"):
    """The task of a new session."""

    env_name: str | None = None
    task_spec: dict[str, Any] | None = Field(default=None, description="A task, or an object with instance_id.")
    split: str | None = None
    index: int | None = None
    toolset_name: str | None = None


class CallBody(BaseModel, frozen=True, extra="forbid"):
    """A call of the tool."""

    name: str
    input: dict[str, Any]
    task_id: str | None = Field(default=None, description="Id of a call whose stream broke.")


@dataclass(eq=False)
class _OpenSession:
    instance: Instance
    seen: float = field(default_factory=time.monotonic)
    held: list[tuple[EvaluationRequest, SharedEvaluation]] = field(default_factory=list)
    """Evaluations that continue when the stream of a call breaks."""


def routes(service: RewardService) -> list[HttpRoute]:
    """Return the routes; clients of a single environment leave out its name, ``assay``."""
    handlers = _Handlers(service)
    tools = answer_always({"tools": [TOOL], "terminal_tool": None})
    splits = answer_always([{"name": SPLIT, "type": "train"}])
    version = answer_always({"version": __version__, "build_sha": None})
    environment = [
        HttpRoute("GET", "/tools", tools, "ORS: the tools."),
        HttpRoute("GET", "/task_tools", tools, "ORS: the tools of a session."),
        HttpRoute("GET", "/splits", splits, "ORS: the splits."),
        HttpRoute("POST", "/tasks", handlers.tasks, "ORS: all tasks.", SplitBody),
        HttpRoute("POST", "/num_tasks", handlers.num_tasks, "ORS: how many tasks there are.", SplitBody),
        HttpRoute("POST", "/task", handlers.task, "ORS: one task.", TaskBody),
        HttpRoute("POST", "/task_range", handlers.task_range, "ORS: some tasks.", TaskRangeBody),
        HttpRoute("GET", "/prompt", handlers.prompt, "ORS: the issue of a session."),
        HttpRoute("POST", "/call", handlers.call, "ORS: submit a patch; answers as a stream.", CallBody),
    ]
    return [
        HttpRoute("GET", "/health", answer_always({"status": "ok"}), "ORS, OpenEnv: whether the service answers."),
        HttpRoute("GET", "/version", version, "ORS: the version."),
        HttpRoute("GET", "/list_environments", answer_always([NAME]), "ORS: the environments."),
        HttpRoute("POST", "/create_session", handlers.create_session, "ORS: an id for a session."),
        HttpRoute("POST", "/create", handlers.create, "ORS: begin a session with a task.", CreateBody),
        HttpRoute("POST", "/ping", handlers.ping, "ORS: the client is still there."),
        HttpRoute("POST", "/delete", handlers.delete, "ORS: end a session."),
        HttpRoute("POST", "/delete_session", handlers.delete, "ORS: end a session."),
        *(replace(each, path=f"/{NAME}{each.path}") for each in environment),
        *environment,
    ]


class _Handlers:
    def __init__(self, service: RewardService) -> None:
        self._service = service
        self._sessions: dict[str, _OpenSession] = {}

    async def tasks(self, request: Request) -> Response:
        read_body(SplitBody, await request.body())
        return JSONResponse({"tasks": [*map(_task, self._service.instances)], "env_name": NAME})

    async def num_tasks(self, request: Request) -> Response:
        read_body(SplitBody, await request.body())
        return JSONResponse({"num_tasks": len(self._service.instances)})

    async def task(self, request: Request) -> Response:
        body = read_body(TaskBody, await request.body())
        return JSONResponse({"task": _task(self._get_task(body.index)), "env_name": NAME})

    async def task_range(self, request: Request) -> Response:
        body = read_body(TaskRangeBody, await request.body())
        found = self._service.instances[body.start : body.stop]
        return JSONResponse({"tasks": [*map(_task, found)], "env_name": NAME})

    async def create_session(self, _request: Request) -> Response:
        events = f"event: task_id\ndata: {uuid.uuid4()}\n\nevent: end\ndata: \n\n"
        return Response(events, media_type="text/event-stream")

    async def create(self, request: Request) -> Response:
        body, name = read_body(CreateBody, await request.body()), _session_id(request)
        self._end_stale()
        if name in self._sessions:
            raise Refused(400, "the session exists already")
        if body.env_name not in {None, NAME}:
            raise Refused(404, f"field env_name: there is no environment {body.env_name}; name {NAME}")
        if body.toolset_name is not None:
            raise Refused(400, "field toolset_name: there are no toolsets")
        self._sessions[name] = _OpenSession(self._choose(body))
        return JSONResponse({"sid": name})

    async def prompt(self, request: Request) -> Response:
        instance = self._session(request).instance
        text = TASK.format(commit=instance.base_commit, repo=instance.repo, issue=instance.problem_statement)
        return JSONResponse([{"type": "text", "text": text, "detail": None}])

    async def ping(self, request: Request) -> Response:
        self._session(request)
        self._end_stale()
        return JSONResponse({"status": "ok"})

    async def delete(self, request: Request) -> Response:
        name = _session_id(request)
        self._end(name)
        return JSONResponse({"sid": name})

    async def call(self, request: Request) -> Response:
        body, session = read_body(CallBody, await request.body()), self._session(request)
        headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
        patch = body.input.get("patch")
        if body.name != TOOL_NAME or not isinstance(patch, str):
            known = body.name == TOOL_NAME
            reason = "input_validation" if known else "not_found"
            error = "field patch: write a unified diff" if known else f"there is no tool {body.name}; call {TOOL_NAME}"
            events = [_event("task_id", "none"), *_split({"ok": False, "error": error, "reason": reason})]
            return Response("".join(events), media_type="text/event-stream", headers=headers)
        wanted = EvaluationRequest(session.instance, patch)
        if needs_tests(self._service.mixture):
            stream = self._stream(session, body.task_id or await self._begin(session, wanted))
        else:
            stream = self._stream_similarity(wanted)
        return StreamingResponse(stream, media_type="text/event-stream", headers=headers)

    async def _begin(self, session: _OpenSession, wanted: EvaluationRequest) -> str:
        """Begin an evaluation that the session holds; return its id."""
        (evaluation,) = await self._service.queue.ask([wanted], session)
        session.held.append((wanted, evaluation))
        return evaluation.id

    async def _stream_similarity(self, wanted: EvaluationRequest) -> AsyncIterator[str]:
        """Yield the events of a call whose reward needs no tests."""
        rewarded = await self._service.compute_reward(self._service.mixture, wanted, None)
        yield _event("task_id", "none")
        for event in _result(rewarded, {"components": rewarded.components}):
            yield event

    async def _stream(self, session: _OpenSession, task_id: str) -> AsyncIterator[str]:
        """Yield the events of a call, from its beginning or for a client whose stream broke."""
        found = next((pair for pair in session.held if pair[1].id == task_id), None)
        if found is None:
            yield _event("error", "unknown task_id")
            return
        wanted, evaluation = found
        yield _event("task_id", evaluation.id)
        while not evaluation.ended.is_set():
            session.seen = time.monotonic()
            try:
                async with asyncio.timeout(PING_SECONDS):
                    await evaluation.ended.wait()
            except TimeoutError:
                yield ": ping\n\n"
        if evaluation.verdict is None:
            yield _event("error", CANCELLED)
            return
        rewarded = await self._service.compute_reward(self._service.mixture, wanted, evaluation.verdict)
        about = {"outcome": evaluation.verdict.outcome, "id": evaluation.id, "components": rewarded.components}
        for event in _result(rewarded, about):
            yield event

    def _choose(self, body: CreateBody) -> Instance:
        if body.task_spec is not None:
            name = body.task_spec.get("instance_id") or body.task_spec.get("id")
            return self._service.find_instance(str(name or ""))
        if body.split != SPLIT or body.index is None:
            raise Refused(400, f"give task_spec, or index and the split {SPLIT}")
        return self._get_task(body.index)

    def _get_task(self, index: int) -> Instance:
        if not 0 <= index < len(self._service.instances):
            raise Refused(400, f"field index: is {index}; there are {len(self._service.instances)} tasks")
        return self._service.instances[index]

    def _session(self, request: Request) -> _OpenSession:
        found = self._sessions.get(_session_id(request))
        if found is None:
            raise Refused(404, "there is no such session; create one")
        found.seen = time.monotonic()
        return found

    def _end_stale(self) -> None:
        now = time.monotonic()
        for name in [name for name, each in self._sessions.items() if now - each.seen > STALE]:
            self._end(name)

    def _end(self, name: str) -> None:
        session = self._sessions.pop(name, None)
        for _, evaluation in session.held if session else ():
            self._service.queue.release(evaluation, session)


def _session_id(request: Request) -> str:
    name = request.headers.get("X-Session-ID", "").strip()
    if not name:
        raise Refused(400, "send the header X-Session-ID")
    return name


def _task(instance: Instance) -> dict[str, Any]:
    return {"instance_id": instance.id, **instance_as_json(instance)}


def _result(rewarded: Rewarded, about: dict[str, Any]) -> list[str]:
    if rewarded.reward is None:
        return [_event("error", f"no reward: {rewarded.problem}")]
    block = {"type": "text", "text": str(about.get("outcome", "submitted")), "detail": None}
    output = {"blocks": [block], "metadata": about, "reward": rewarded.reward, "finished": True}
    return _split({"ok": True, "output": output})


def _split(result: dict[str, Any]) -> list[str]:
    """Return a result as events, each with a part of it."""
    text = json.dumps(result)
    parts = [text[start : start + CHUNK] for start in range(0, len(text), CHUNK)]
    last = _event("end", parts.pop())
    return [*(_event("chunk", part) for part in parts), last]


def _event(kind: str, data: str) -> str:
    lines = "".join(f"data: {line}\n" for line in data.splitlines() or [""])
    return f"event: {kind}\n{lines}\n"
