"""The proxy's HTTP server: it listens on this machine only, on a port of 127.0.0.1 or on a Unix socket.

A Unix socket can be mounted into a container that has no network. Clients must send the proxy's own token; the
endpoint's key never leaves the host. ``handler`` decides the replies.
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
from typing import Any

from assay.agents.llm.chat import ChatModel
from assay.agents.llm.proxy.dialects.base import ApiError, Dialect, HttpReply, HttpRequest
from assay.agents.llm.proxy.handler import CHAT, ProxyHandler
from assay.harness.closing import Closing
from assay.harness.errors import UserError

MAX_BODY_BYTES = 16 * 1024 * 1024  # longer requests are rejected
MAX_DISCARDED_BYTES = 1024 * 1024
"""Read from a rejected request: a connection closed over unread bytes loses the reply."""
MAX_CONNECTIONS = 32
"""Connections at once; further ones are closed, so that a container cannot fill the host with threads."""
REQUEST_SECONDS = 60.0  # time for a request to arrive
MAX_SOCKET_PATH_BYTES = 100  # the kernel allows a few more


class Proxy(Closing):
    """A running proxy, whose clients must send ``token`` as API key; a context manager."""

    def __init__(
        self,
        model: ChatModel,
        names: Sequence[str],
        *,
        log: Path | None = None,
        unix_socket: Path | None = None,
        dialects: Sequence[Dialect] = (CHAT,),
    ) -> None:
        """Start to listen. Raises UserError if the socket cannot be created.

        Args:
            model: the model with its budget, recording and retries.
            names: model names that requests may give.
            log: file that gets a ``handler.CallRecord`` for each request.
            unix_socket: path of the socket; None for a free port of 127.0.0.1.
            dialects: APIs to serve; requests for any other route are forbidden.
        """
        self.token = f"assay-{secrets.token_urlsafe(24)}"
        self._socket = unix_socket
        self._connections = _Connections(ProxyHandler(model, names, self.token, log, dialects))
        self._server = _listen(self._connections, unix_socket)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), name="model-proxy", daemon=True
        )
        self._thread.start()

    @property
    def base_url(self) -> str:
        """Address for clients on this machine; over a Unix socket its host has no meaning."""
        if self._socket is not None:
            return "http://localhost/v1"
        return f"http://127.0.0.1:{self._server.socket.getsockname()[1]}/v1"

    def close(self) -> None:
        """Take no more requests and wait for answers under way, since they are paid for and will be recorded."""
        self._server.shutdown()
        self._connections.close_idle()
        self._server.server_close()
        self._thread.join()
        if self._socket is not None:
            self._socket.unlink(missing_ok=True)


class _Connections:
    """The handler, and the connections whose request has not arrived yet."""

    def __init__(self, handler: ProxyHandler) -> None:
        self.handler = handler
        self._idle: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._is_closed = False

    def add(self, connection: socket.socket) -> None:
        with self._lock:
            self._idle.add(connection)
            if self._is_closed:
                _shut_down(connection)

    def request_arrived(self, connection: socket.socket) -> None:
        with self._lock:
            self._idle.discard(connection)

    def close_idle(self) -> None:
        with self._lock:
            self._is_closed = True
            for connection in self._idle:
                _shut_down(connection)


class _HttpConnection(BaseHTTPRequestHandler):
    """Hands one request to the handler and sends its reply; one request a connection."""

    protocol_version = "HTTP/1.1"
    server_version = "assay"
    sys_version = ""
    timeout = REQUEST_SECONDS

    def __init__(self, connections: _Connections, *from_server: Any) -> None:
        self._connections = connections
        super().__init__(*from_server)

    def setup(self) -> None:
        super().setup()
        self._connections.add(self.connection)

    def finish(self) -> None:
        self._connections.request_arrived(self.connection)
        super().finish()

    def _serve(self) -> None:
        path, _, query = self.path.partition("?")
        head = HttpRequest(self.command, path, query, {name.lower(): value for name, value in self.headers.items()})
        reply = self._answer(head)
        content = reply.body.encode("utf-8", "replace")
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.content_type)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)
        self.close_connection = True

    def _answer(self, head: HttpRequest) -> HttpReply:
        handler = self._connections.handler
        length = self.headers.get("Content-Length", "0" if self.command != "POST" else "")
        if not (length.isascii() and length.isdigit()):
            return handler.reject(head, ApiError(411, "invalid_request", "the request must have a Content-Length"))
        if len(length) > 12 or int(length) > MAX_BODY_BYTES:
            return handler.reject(head, ApiError(413, "invalid_request", "the request is too long"))
        rejected = handler.reject_early(head)
        if rejected is not None:
            self.rfile.read(min(int(length), MAX_DISCARDED_BYTES))
            return rejected
        body = self.rfile.read(int(length))
        self._connections.request_arrived(self.connection)
        return handler.answer(replace(head, body=body))

    def log_message(self, *_: Any) -> None:
        """Print nothing; the handler keeps the log."""


for _method in ("GET", "POST", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"):
    setattr(_HttpConnection, f"do_{_method}", _HttpConnection._serve)  # http.server looks its methods up by name


class _BoundedThreads(ThreadingMixIn):
    """A thread for each connection, at most MAX_CONNECTIONS."""

    def __init__(self, *address_and_handler: Any) -> None:
        self._free = threading.BoundedSemaphore(MAX_CONNECTIONS)
        super().__init__(*address_and_handler)

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
        """Ignore clients that disconnected; the answer they did not wait for is in the log."""


class _TcpServer(_BoundedThreads, ThreadingTCPServer):
    request_queue_size = 64


class _UnixServer(_BoundedThreads, ThreadingUnixStreamServer):
    request_queue_size = 64


def _listen(connections: _Connections, path: Path | None) -> _TcpServer | _UnixServer:
    connection_class = partial(_HttpConnection, connections)
    if path is None:
        return _TcpServer(("127.0.0.1", 0), connection_class)
    if len(os.fsencode(path)) > MAX_SOCKET_PATH_BYTES:
        raise UserError(f"the path of the socket {path} is too long for the kernel; choose a shorter folder")
    try:
        server = _UnixServer(str(path), connection_class)
        path.chmod(0o666)  # the container runs as another user; the token is what keeps others out
    except OSError as error:
        raise UserError(f"the socket {path} cannot be made: {error.strerror}") from error
    return server


def _shut_down(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:  # already closed
        return
