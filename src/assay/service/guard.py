"""Authentication and limits: who may ask, how large a request may be, and how long its body may take."""

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from secrets import compare_digest
from typing import Any
from urllib.parse import urlsplit

from assay.harness.errors import make_printable

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Message, Receive, Send], Awaitable[None]]

LOOPBACK = ("127.0.0.1", "localhost", "::1")
OPEN = frozenset({"/v1/health", "/health", "/version", "/openapi.json", "/docs"})
"""Paths that need no token: nothing of theirs is a secret."""
BODY_SECONDS = 30.0  # seconds that a body may take to arrive
MAX_HELD = 256_000_000  # bytes of the bodies of all requests at once
SEND_SECONDS = 60.0  # seconds that a client may take to read a piece of an answer


def is_loopback(host: str) -> bool:
    """Return whether a header ``Host`` names this machine, for itself."""
    try:
        return urlsplit(f"//{host}").hostname in LOOPBACK
    except ValueError:
        return False


class Refused(Exception):
    """A request that is answered by a status and one line."""

    def __init__(self, status: int, problem: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(make_printable(problem))
        self.status = status
        self.headers = headers or {}


class ClientLeft(Exception):
    """The client left before its answer, or before its request was whole."""


class Guard:
    """ASGI middleware: authentication, limits of size and time, protection from other sites."""

    def __init__(self, app: Asgi, token: str = "", max_body: int = 10_000_000) -> None:
        self._app = app
        self._token = token
        self._max_body = max_body
        self._held = 0

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        body = bytearray()
        try:
            self._check_origin(headers)
            self._check_token(scope["path"], headers)
            if scope["type"] == "websocket":
                await self._app(scope, receive, send)
                return
            await self._read(body, scope["method"], headers, receive)
            await self._app(scope, _replay(bytes(body), receive), _limit_sending(send))
        except Refused as refused:
            await _refuse(scope, send, refused)
        except ClientLeft:
            return
        finally:
            self._held -= len(body)

    def _check_origin(self, headers: dict[str, str]) -> None:
        """Refuse what another site makes a browser send: a foreign Host (DNS rebinding) or Origin."""
        host = headers.get("host", "")
        if not self._token and not is_loopback(host):
            raise Refused(403, "without a token this service answers to 127.0.0.1 and localhost only")
        if headers.get("origin") not in {None, f"http://{host}", f"https://{host}"}:
            raise Refused(403, "requests of other sites are refused")

    def _check_token(self, path: str, headers: dict[str, str]) -> None:
        if not self._token or path in OPEN:
            return
        kind, _, given = headers.get("authorization", "").partition(" ")
        given = given.strip() if kind.lower() == "bearer" else headers.get("x-api-key", "")
        if not compare_digest(given.encode(), self._token.encode()):
            raise Refused(401, "send the header Authorization: Bearer TOKEN", {"WWW-Authenticate": "Bearer"})

    async def _read(self, body: bytearray, method: str, headers: dict[str, str], receive: Receive) -> None:
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > self._max_body:
            raise Refused(413, f"the body has {length} bytes; at most {self._max_body} are accepted")
        try:
            async with asyncio.timeout(BODY_SECONDS):
                await self._fill(body, receive)
        except TimeoutError:
            raise Refused(408, f"the body did not arrive within {BODY_SECONDS:.0f} s") from None
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if body and method != "GET" and kind != "application/json":
            raise Refused(415, "send JSON, with the header Content-Type: application/json")

    async def _fill(self, body: bytearray, receive: Receive) -> None:
        is_whole = False
        while not is_whole:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientLeft
            piece = message.get("body", b"")
            body += piece
            self._held += len(piece)
            if len(body) > self._max_body:
                raise Refused(413, f"the body has more than {self._max_body} bytes")
            if self._held > MAX_HELD:
                raise Refused(503, "too many large requests at once", {"Retry-After": "1"})
            is_whole = not message.get("more_body")


def _replay(body: bytes, receive: Receive) -> Receive:
    """Give the body again, and then every later message."""
    is_given = False

    async def replay() -> Message:
        nonlocal is_given
        if is_given:
            return await receive()
        is_given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _limit_sending(send: Send) -> Send:
    """Raise TimeoutError for a client that does not read its answer."""

    async def send_in_time(message: Message) -> None:
        async with asyncio.timeout(SEND_SECONDS):
            await send(message)

    return send_in_time


async def _refuse(scope: Message, send: Send, refused: Refused) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": str(refused)})
        return
    body = json.dumps({"error": str(refused)}).encode()
    headers = {"content-type": "application/json", "content-length": str(len(body)), "connection": "close"}
    pairs = [(name.lower().encode(), value.encode()) for name, value in {**headers, **refused.headers}.items()]
    await send({"type": "http.response.start", "status": refused.status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})
