"""A metering proxy on the host: how a container without a network, and an agent of others, reach the model.

It listens on this machine only: on a port of 127.0.0.1, or on a Unix socket that is mounted into the container. Whoever
asks must carry the run's own token; the endpoint's key never leaves the host. ``desk`` decides what is answered.
"""

import os
import secrets
import socket
import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingMixIn, ThreadingTCPServer, ThreadingUnixStreamServer
from types import TracebackType
from typing import Any, Self

from assay.agents.llm.chat import ChatModel
from assay.agents.llm.desk import CHAT, Desk
from assay.agents.llm.forms.base import Ask, Form, Refused, Told
from assay.harness.errors import UserError

LARGEST_BODY = 16 * 1024 * 1024
"""Bytes of a request."""
READ_ANYWAY = 1024 * 1024
"""Bytes of a refused request: a connection that is closed over unread bytes loses the reply."""
MOST_CONNECTIONS = 32
"""At once; more are turned away, so that a container cannot fill the host with threads."""
PATIENCE = 60.0
"""Seconds that a request may take to arrive."""
LONGEST_SOCKET_PATH = 100
"""Characters; the kernel takes a few more."""


class Proxy:
    """A running proxy; a context manager. ``token`` is what containers get as their key."""

    def __init__(
        self,
        model: ChatModel,
        names: Sequence[str],
        *,
        log: Path | None = None,
        unix_socket: Path | None = None,
        forms: Sequence[Form] = (CHAT,),
    ) -> None:
        """Start it.

        Args:
            model: who answers, with budget, recording and whatever else around it.
            names: model names that may be asked for.
            log: file that gets a JSON line for each request (``desk.Call``).
            unix_socket: where to listen; without it a free port of 127.0.0.1.
            forms: interfaces in which it answers; no route of any other is served.

        Raises:
            UserError: the socket cannot be made.
        """
        self.token = f"assay-{secrets.token_urlsafe(24)}"
        self._socket = unix_socket
        self._lines = _Lines(Desk(model, names, self.token, log, forms))
        self._server = _listen(self._lines, unix_socket)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), name="model-proxy", daemon=True
        )
        self._thread.start()

    @property
    def base_url(self) -> str:
        """Address for clients on this machine; over a Unix socket the host in it means nothing."""
        if self._socket is not None:
            return "http://localhost/v1"
        return f"http://127.0.0.1:{self._server.socket.getsockname()[1]}/v1"

    def __enter__(self) -> Self:
        """Return the proxy itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Stop it."""
        self.close()

    def close(self) -> None:
        """Take no more requests, and wait for answers under way: they are paid for, and a recording wants them."""
        self._server.shutdown()
        self._lines.hang_up()
        self._server.server_close()
        self._thread.join()
        if self._socket is not None:
            self._socket.unlink(missing_ok=True)


class _Lines:
    """The desk, and the connections from which no request has come yet."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self._waiting: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._is_closed = False

    def opened(self, line: socket.socket) -> None:
        with self._lock:
            self._waiting.add(line)
            if self._is_closed:
                _shut(line)

    def is_read(self, line: socket.socket) -> None:
        with self._lock:
            self._waiting.discard(line)

    def hang_up(self) -> None:
        with self._lock:
            self._is_closed = True
            for line in self._waiting:
                _shut(line)


class _Handler(BaseHTTPRequestHandler):
    """Carries one request to the desk and its reply back; one request a connection."""

    protocol_version = "HTTP/1.1"
    server_version = "assay"
    sys_version = ""
    timeout = PATIENCE

    def __init__(self, lines: _Lines, *of_the_server: Any) -> None:
        self._lines = lines
        super().__init__(*of_the_server)

    def setup(self) -> None:
        super().setup()
        self._lines.opened(self.connection)

    def finish(self) -> None:
        self._lines.is_read(self.connection)
        super().finish()

    def _serve(self) -> None:
        path, _, query = self.path.partition("?")
        head = Ask(self.command, path, query, {name.lower(): value for name, value in self.headers.items()})
        told = self._answer(head)
        content = told.body.encode("utf-8", "replace")
        self.send_response(told.status)
        self.send_header("Content-Type", told.content_type)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)
        self.close_connection = True

    def _answer(self, head: Ask) -> Told:
        length = self.headers.get("Content-Length", "0" if self.command != "POST" else "")
        if not (length.isascii() and length.isdigit()):
            return self._lines.desk.note_refusal(
                head, Refused(411, "invalid_request", "the request must tell its length")
            )
        if len(length) > 12 or int(length) > LARGEST_BODY:
            return self._lines.desk.note_refusal(head, Refused(413, "invalid_request", "the request is too long"))
        refused = self._lines.desk.refuse(head)
        if refused is not None:
            self.rfile.read(min(int(length), READ_ANYWAY))
            return refused
        body = self.rfile.read(int(length))
        self._lines.is_read(self.connection)
        return self._lines.desk.answer(replace(head, body=body))

    def log_message(self, *_: Any) -> None:
        """Print nothing; the desk keeps the log."""


for _method in ("GET", "POST", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"):
    setattr(_Handler, f"do_{_method}", _Handler._serve)  # http.server looks its methods up by name


class _Bounded(ThreadingMixIn):
    """A thread for each connection, and no more than there may be."""

    def __init__(self, *where: Any) -> None:
        self._free = threading.BoundedSemaphore(MOST_CONNECTIONS)
        super().__init__(*where)

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)  # type: ignore[attr-defined]  # of the server that this is mixed into
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, *_: Any) -> None:
        """Say nothing of a client that went away; the answer it did not wait for is in the log."""


class _Port(_Bounded, ThreadingTCPServer):
    request_queue_size = 64


class _Socket(_Bounded, ThreadingUnixStreamServer):
    request_queue_size = 64


def _listen(lines: _Lines, path: Path | None) -> _Port | _Socket:
    handler = partial(_Handler, lines)
    if path is None:
        return _Port(("127.0.0.1", 0), handler)
    if len(os.fsencode(path)) > LONGEST_SOCKET_PATH:
        raise UserError(f"the path of the socket {path} is too long for the kernel; choose a shorter folder")
    try:
        server = _Socket(str(path), handler)
        path.chmod(0o666)  # the container's user is another one; the token is what keeps others out
    except OSError as error:
        raise UserError(f"the socket {path} cannot be made: {error.strerror}") from error
    return server


def _shut(line: socket.socket) -> None:
    try:
        line.shutdown(socket.SHUT_RDWR)
    except OSError:  # it is gone already
        return
