"""A model that workers on other machines ask through the process that planned their run.

That process alone holds the key, the recording and the budgets of the run: whoever asks, nothing is paid for twice, and
a limit of the run is one for all workers.
"""

import secrets
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, answer_challenge, deliver_challenge
from socketserver import BaseRequestHandler, ThreadingTCPServer
from typing import Any

from assay.agents.llm.chat import Answer, ChatModel, Request
from assay.agents.llm.errors import ModelUnavailable
from assay.harness.closing import Closing
from assay.harness.errors import AssayError


@dataclass(frozen=True, slots=True)
class DistantModel:
    """A ChatModel that asks a ``ModelDoor``; it can be pickled, and holds no connection between two questions."""

    address: tuple[str, int]
    secret: bytes

    def complete(self, request: Request) -> Answer:
        """Ask; raises what the model raises there, and ModelUnavailable if the door cannot be reached."""
        left = None if request.deadline is None else request.deadline - time.monotonic()  # clocks are a machine's own
        try:
            with Client(self.address, authkey=self.secret) as connection:
                connection.send((request.model_copy(update={"deadline": None}), left))
                answer = connection.recv()
        except (OSError, EOFError, AuthenticationError) as error:
            raise ModelUnavailable(f"the driver of the run does not answer: {error or 'it has ended'}") from error
        if isinstance(answer, AssayError):
            raise answer
        assert isinstance(answer, Answer)
        return answer


class ModelDoor(Closing):
    """Lets workers that know its secret ask a model; a context manager."""

    def __init__(self, model: ChatModel, host: str) -> None:
        """Open a free port of an address of this machine. Raises OSError."""
        secret = secrets.token_bytes(32)
        handler = type("Handler", (_Visit,), {"secret": secret, "ask": staticmethod(model.complete)})
        self._server = _Server((host, 0), handler)
        self.model = DistantModel((host, self._server.server_address[1]), secret)
        threading.Thread(target=self._server.serve_forever, args=(0.1,), name="assay-door", daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingTCPServer):
    daemon_threads = True  # a worker that was lost may never end its question
    block_on_close = False
    request_queue_size = 1024

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of who came without the secret, or left before the answer."""


class _Visit(BaseRequestHandler):
    secret: bytes
    ask: Callable[[Request], Answer]

    def handle(self) -> None:
        with suppress(OSError, EOFError, AuthenticationError), Connection(self.request.detach()) as connection:
            deliver_challenge(connection, self.secret)
            answer_challenge(connection, self.secret)
            request, left = connection.recv()
            deadline = None if left is None else time.monotonic() + left
            try:
                answer: Answer | AssayError = self.ask(request.model_copy(update={"deadline": deadline}))
            except AssayError as error:
                answer = error
            connection.send(answer)
