"""A model server on this machine, started for a run and ended with it; any command that speaks OpenAI's protocol."""

import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from assay.agents.llm.chat import Answer, ChatModel, Request
from assay.agents.llm.errors import ModelUnavailable, TooSlow
from assay.agents.llm.server_guard import STARTED
from assay.harness.closing import Closing
from assay.harness.errors import UserError, make_printable

PORT = "{port}"  # stands for the server's port in a command
RESTARTS = 3
"""Starts after the first; a server that never answered is not started again."""
EVERY = 0.5  # seconds between two looks
IDLE = "http://127.0.0.1:9/v1"
"""Address in place of a server that is not started, since there is nothing to ask."""


class ModelServer(Closing):
    """Runs a server until it is closed, or this process ends in whatever way; a context manager."""

    def __init__(
        self, command: str, log: Path, *, wait: float = 1800.0, note: Callable[[str], None] = lambda _text: None
    ) -> None:
        """Start a server, and wait at most ``wait`` seconds until it answers.

        Args:
            command: of a shell; ``{port}`` is replaced by a free port.
            log: gets what the server prints, after what is there.
            note: gets a line each time the server ends by itself.

        Raises:
            UserError: it ended, or did not answer in time; the message has the last line of its log.
        """
        check_command(command)
        self.port, self._log, self._wait, self._note = _find_port(), log, wait, note
        self._gone = threading.Event()
        self._reason = "it has not started"
        log.parent.mkdir(parents=True, exist_ok=True)
        words = [str(log), str(RESTARTS), command.replace(PORT, str(self.port))]
        self._guard = subprocess.Popen(
            [sys.executable, "-P", "-m", "assay.agents.llm.server_guard", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is the run's to handle
        )
        self._listening = threading.Thread(target=self._listen, name="assay-server", daemon=True)
        self._listening.start()
        try:
            self.await_answer()
            assert self._guard.stdin is not None
            self._guard.stdin.write(b"up\n")
            self._guard.stdin.flush()
        except BaseException:
            self.close()
            raise

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def close(self) -> None:
        with suppress(OSError):
            assert self._guard.stdin is not None
            self._guard.stdin.close()
        self._guard.wait()
        self._listening.join()
        assert self._guard.stdout is not None
        self._guard.stdout.close()

    def await_answer(self, sleep: Callable[[float], None] = time.sleep, deadline: float = float("inf")) -> None:
        """Wait until the server answers; raises UserError if it has ended for good or is not there in time."""
        latest = time.monotonic() + self._wait
        while not self.answers():
            if self._gone.is_set():
                raise UserError(f"the model server does not run: {self._reason}; its log is {self._log}")
            if time.monotonic() > min(latest, deadline):
                said = f" ({line})" if (line := self._read_last_line()) else ""
                raise UserError(f"the model server did not answer in {self._wait:g} s{said}; its log is {self._log}")
            sleep(EVERY)

    def await_end(self) -> None:
        """Wait until the server has ended for good; raises UserError with the reason."""
        self._gone.wait()
        raise UserError(f"the model server does not run: {self._reason}; its log is {self._log}")

    def answers(self) -> bool:
        """Return whether the server answers by HTTP, and not that it is still loading."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5.0)
        try:
            connection.request("GET", "/v1/models")
            return connection.getresponse().status < 500
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _listen(self) -> None:
        assert self._guard.stdout is not None
        group = 0
        for line in self._guard.stdout:
            first, second = line.decode().split()
            if first == STARTED:
                group = int(second)
                continue
            said = f" ({text})" if (text := self._read_last_line()) else ""
            self._reason = f"it ended with status {first}{said}"
            if int(second):
                self._note(f"the model server: {self._reason}; it is started again, as at most {second} times more")
        if self._guard.wait() and group:  # it was killed
            with suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)
        self._gone.set()

    def _read_last_line(self) -> str:
        with suppress(OSError), self._log.open("rb") as file:
            file.seek(max(0, self._log.stat().st_size - 4096))
            lines = file.read().decode("utf-8", "replace").split("\n")
            return next((make_printable(line.strip())[:300] for line in reversed(lines) if line.strip()), "")
        return ""


class Served:
    """A ChatModel that waits for its server, if that is being started again, and then asks once more."""

    def __init__(self, model: ChatModel, server: ModelServer, sleep: Callable[[float], None]) -> None:
        self._model, self._server, self._sleep = model, server, sleep

    def complete(self, request: Request) -> Answer:
        """Raises as the model does, and UserError if the server is gone for good."""
        try:
            return self._model.complete(request)
        except ModelUnavailable as error:
            if error.status is not None or isinstance(error, TooSlow):
                raise
            self._sleep(EVERY)  # for the guard to see what the connection has seen
            self._server.await_answer(self._sleep, request.deadline or float("inf"))
            return self._model.complete(request)


def check_command(command: str) -> None:
    """Raise UserError for a command that does not say where its port goes."""
    if PORT not in command:
        raise UserError(f"the command {command!r} of the model server needs {PORT} where it takes its port")


def _find_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port
