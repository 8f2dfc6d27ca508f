"""The routes of OpenEnv: an episode is one instance, its only step takes the patch.

Sessions live on the web socket alone; over HTTP each call is an episode of its own, so a step names its instance.
"""

import asyncio
import json
import uuid
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from assay.harness.domain import Instance
from assay.harness.errors import UserError
from assay.service.bodies import EvaluateBody, read_body
from assay.service.core import LeavingClient, RewardService
from assay.service.guard import ClientLeft, Refused
from assay.service.replies import instance_as_json
from assay.service.routes import HttpRoute, answer_always
from assay.version import __version__

ABOUT = "Repositories with an issue: the action is a patch, the reward says whether it resolves the issue."
METADATA = {"name": "assay", "description": ABOUT, "version": __version__}
CODES = {400: "INVALID_JSON", 405: "UNKNOWN_TYPE", 429: "CAPACITY_REACHED"}
"""Codes of errors on the web socket, by HTTP status."""


class ResetBody(BaseModel, frozen=True, extra="allow"):
    """The instance of an episode: by its id, by a number, or the next one."""

    instance_id: str | None = None
    seed: int | None = Field(default=None, ge=0)
    episode_id: str | None = None


class PatchAction(BaseModel, frozen=True, extra="forbid"):
    """The only action."""

    patch: str = Field(description="A unified diff.")
    instance_id: str | None = Field(default=None, description="Needed over HTTP, where there are no sessions.")
    metadata: dict[str, Any] = Field(default_factory=dict)


class StepBody(BaseModel, frozen=True, extra="allow"):
    """A step."""

    action: PatchAction
    timeout_s: float | None = None


@dataclass
class Episode:
    """One instance, and the number of patches that have come."""

    id: str
    instance: Instance | None = None
    steps: int = 0

    @property
    def state(self) -> dict[str, Any]:
        """The state in OpenEnv's terms."""
        name = self.instance.id if self.instance else None
        return {"episode_id": self.id, "step_count": self.steps, "instance_id": name}


class OpenEnv:
    """The routes and the web socket."""

    def __init__(self, service: RewardService) -> None:
        self._service = service
        self._next = 0

    def routes(self) -> list[HttpRoute]:
        state = answer_always({"episode_id": None, "step_count": 0})
        anything = {"type": "object", "additionalProperties": True}
        schema = {"action": PatchAction.model_json_schema(), "observation": anything, "state": anything}
        return [
            HttpRoute("POST", "/reset", self._reset, "OpenEnv: an instance's issue.", ResetBody),
            HttpRoute("POST", "/step", self._step, "OpenEnv: submit a patch.", StepBody),
            HttpRoute("GET", "/state", state, "OpenEnv: the state; sessions are on /ws."),
            HttpRoute("GET", "/schema", answer_always(schema), "OpenEnv: schemas of action, observation and state."),
            HttpRoute("GET", "/metadata", answer_always(METADATA), "OpenEnv: what this environment is."),
        ]

    def socket(self) -> WebSocketRoute:
        return WebSocketRoute("/ws", self._session)

    async def _reset(self, request: Request) -> Response:
        return JSONResponse(self._begin(Episode(uuid.uuid4().hex), read_body(ResetBody, await request.body() or b"{}")))

    async def _step(self, request: Request) -> Response:
        body = read_body(StepBody, await request.body())
        if body.action.instance_id is None:
            raise Refused(422, "field action.instance_id: is missing; sessions are on /ws alone")
        episode = Episode(uuid.uuid4().hex, self._service.find_instance(body.action.instance_id))
        return JSONResponse(await self._step_once(request, episode, body.action))

    async def _session(self, socket: WebSocket) -> None:
        await socket.accept()
        episode = Episode(uuid.uuid4().hex)
        watched = _WatchedSocket(socket)
        reading = asyncio.create_task(watched.read())
        try:
            while (text := await watched.texts.get()) is not None:
                if (answer := await self._answer(watched, episode, text)) is None:
                    await socket.close()
                    break
                await socket.send_text(json.dumps(answer))
        except (ClientLeft, WebSocketDisconnect, RuntimeError):
            return
        finally:
            reading.cancel()

    async def _answer(self, socket: "_WatchedSocket", episode: Episode, text: str) -> dict[str, Any] | None:
        """Return the answer to a message; None for the one that closes the session."""
        try:
            kind, data = _message(text)
            match kind:
                case "close":
                    return None
                case "state":
                    answer = episode.state
                case "reset":
                    answer = self._begin(episode, read_body(ResetBody, data))
                case _:
                    answer = await self._step_once(socket, episode, read_body(PatchAction, data))
        except UserError as error:
            return _error(str(error), "VALIDATION_ERROR")
        except Refused as refused:
            return _error(str(refused), CODES.get(refused.status, "EXECUTION_ERROR"))
        return {"type": "state" if kind == "state" else "observation", "data": answer}

    def _begin(self, episode: Episode, body: ResetBody) -> dict[str, Any]:
        """Begin an episode; return its first observation."""
        found = self._service.instances
        if body.instance_id is None:
            number = body.seed if body.seed is not None else self._next
            self._next += body.seed is None
            if not found:
                raise Refused(404, "the data set has no instance")
            episode.instance = found[number % len(found)]
        else:
            episode.instance = self._service.find_instance(body.instance_id)
        episode.id, episode.steps = body.episode_id or uuid.uuid4().hex, 0
        observation = {**instance_as_json(episode.instance, is_whole=True), "instance_id": episode.instance.id}
        return {"observation": observation, "reward": None, "done": False}

    async def _step_once(
        self, client: Request | LeavingClient, episode: Episode, action: PatchAction
    ) -> dict[str, Any]:
        """Return the observation and the reward of a patch; raises Refused where there is none."""
        if action.instance_id is not None:
            episode.instance = self._service.find_instance(action.instance_id)
        if episode.instance is None:
            raise Refused(422, "the episode has not begun; send reset first")
        body = EvaluateBody(instance_id=episode.instance.id, patch=action.patch)
        wanted = await self._service.make_request(body, self._service.mixture)
        rewarded, verdict = await self._service.judge(client, wanted)
        episode.steps += 1
        seen = {"outcome": verdict.outcome, "reason": verdict.reason} if verdict else {}
        about = {"components": rewarded.components, "episode_id": episode.id}
        return {"observation": {**seen, "metadata": about}, "reward": rewarded.reward, "done": True, "metadata": about}


class _WatchedSocket:
    """Reads ahead, so that a client that leaves is noticed while its patch is evaluated."""

    def __init__(self, socket: WebSocket) -> None:
        self.texts: asyncio.Queue[str | None] = asyncio.Queue()
        self.gone = asyncio.Event()
        self._socket = socket

    async def read(self) -> None:
        try:
            while True:
                self.texts.put_nowait(await self._socket.receive_text())
        except (WebSocketDisconnect, KeyError, RuntimeError):
            self.gone.set()
            self.texts.put_nowait(None)

    async def has_left(self) -> None:
        await self.gone.wait()


def _message(text: str) -> tuple[str, bytes]:
    """Return a message's type, and its data as JSON; raises Refused."""
    try:
        message = json.loads(text)
        kind, data = str(message.get("type")), json.dumps(message.get("data") or {}).encode()
    except (ValueError, AttributeError, RecursionError):
        raise Refused(400, "a message is a JSON object with type and data") from None
    if kind not in {"reset", "step", "state", "close"}:
        raise Refused(405, f"there is no message of type {kind!r}; send reset, step, state or close")
    return kind, data


def _error(message: str, code: str) -> dict[str, Any]:
    return {"type": "error", "data": {"message": message, "code": code}}
