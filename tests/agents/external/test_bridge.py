import shlex
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.agents.external import bridge

ASK = """
import socket, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as connection:
    connection.sendall(b"question")
    connection.shutdown(socket.SHUT_WR)
    print(b"".join(iter(lambda: connection.recv(100), b"")).decode())
"""


class Upstream:
    """A Unix socket that answers every connection with one reply and keeps what it received."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.reply = b"HTTP/1.1 200 OK\r\n\r\nanswer"
        self.received: list[bytes] = []
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(str(path))
        self.server.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self.server.accept()
            except OSError:
                return
            with connection:
                self.received.append(connection.recv(100))
                connection.sendall(self.reply)


@pytest.fixture
def upstream(tmp_path: Path) -> Iterator[Upstream]:
    found = Upstream(tmp_path / "s")
    yield found
    found.server.close()


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def run(upstream: Upstream, port: int, script: str, grace: float = 10.0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", bridge.__file__, str(port), str(upstream.path), str(grace), "bash", "-c", script]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, input="not for the command", check=False)


def ask(port: int) -> str:
    return shlex.join([sys.executable, "-I", "-c", ASK, str(port)])


def test_connections_are_forwarded_to_the_socket(upstream: Upstream, port: int) -> None:
    done = run(upstream, port, f"{ask(port)}; {ask(port)}; cat; exit 3")
    assert done.stdout.count("answer") == 2
    assert "not for the command" not in done.stdout
    assert upstream.received == [b"question", b"question"]
    assert done.returncode == 3


def test_exit_code_of_a_killed_command_is_the_shells(upstream: Upstream, port: int) -> None:
    assert run(upstream, port, "kill -9 $$").returncode == 137


def test_command_is_terminated_after_the_budget_refused_a_question(upstream: Upstream, port: int) -> None:
    upstream.reply = b"HTTP/1.1 402 Payment Required\r\n\r\n"
    done = run(upstream, port, f"{ask(port)}; trap 'echo saved; exit 5' TERM; sleep 60 & wait", grace=0.2)
    assert "saved" in done.stdout
    assert done.returncode == 5


def test_402_in_the_body_of_a_reply_terminates_nothing(upstream: Upstream, port: int) -> None:
    upstream.reply = b"HTTP/1.1 200 OK\r\n\r\nthe status 402 is mentioned"
    assert run(upstream, port, f"{ask(port)}; sleep 0.5; exit 0", grace=0.0).returncode == 0


def test_processes_left_in_the_commands_group_are_killed(upstream: Upstream, port: int) -> None:
    """The background process holds the output open: reading it to its end would time out."""
    assert run(upstream, port, "sleep 600 & exit 0").returncode == 0
