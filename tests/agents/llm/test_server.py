"""A model server that is started for a run: it comes up or says why not, comes back, and ends with the run."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import small_server
from assay.agents.llm.chat import Answer, Request
from assay.agents.llm.client import Endpoint, ModelClient
from assay.agents.llm.server import RESTARTS, ModelServer, Served
from assay.harness.errors import UserError
from played_endpoint import make_request

pytestmark = pytest.mark.slow

COMMAND = f"{sys.executable} {small_server.__file__} {{port}}"


def find(word: str) -> list[int]:
    """Return the processes that have a word in their command lines."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "cmdline").read_bytes().decode().split("\0")
        except (OSError, UnicodeDecodeError):
            continue
        found += [int(path.name)] if word in words else []
    return found


def wait_until(holds: Callable[[], object]) -> None:
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ModelServer]:
    with ModelServer(COMMAND, tmp_path / "server.log", wait=20) as server:
        yield server


def ask(server: ModelServer) -> Answer:
    with ModelClient(Endpoint(base_url=server.url)) as client:
        return Served(client, server, time.sleep).complete(make_request())


def test_it_answers_and_its_log_is_kept(server: ModelServer, tmp_path: Path) -> None:
    assert ask(server).content.startswith("So.")
    assert (tmp_path / "server.log").read_text().startswith(f"small server on {server.port}\n")
    server.close()
    assert not server.answers()


def test_a_question_waits_while_it_is_started_again(tmp_path: Path) -> None:
    said: list[str] = []
    with ModelServer(COMMAND, tmp_path / "server.log", wait=20, note=said.append) as server:
        [pid] = find(str(server.port))
        os.kill(pid, signal.SIGKILL)
        assert ask(server).content
        assert len(said) == 1
        assert "it is started again, as at most 3 times more" in said[0]


def test_it_is_started_again_a_few_times_only(tmp_path: Path) -> None:
    with ModelServer(COMMAND, tmp_path / "server.log", wait=20) as server:
        for _ in range(RESTARTS + 1):
            server.await_answer()
            [pid] = find(str(server.port))
            os.kill(pid, signal.SIGKILL)
            wait_until(lambda: find(str(server.port)) != [pid])  # noqa: B023
        with pytest.raises(UserError, match=r"does not run: it ended with status -?\d+ \("):
            ask(server)


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("no-such-program {port}", r"does not run: it ended with status 127 \(.*no-such-program.*; its log is "),
        ("echo out of memory; exit 1 # {port}", r"it ended with status 1 \(out of memory\); its log is "),
        ("echo loading; sleep 600 # {port}", r"did not answer in 1 s \(loading\); its log is "),
        ("vllm serve", r"needs \{port\} where it takes its port"),
    ],
)
def test_one_line_says_why_it_does_not_come_up(tmp_path: Path, command: str, problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        ModelServer(command, tmp_path / "server.log", wait=1)


def test_one_that_is_loading_does_not_answer_yet(tmp_path: Path) -> None:
    """As servers do, this one answers 503 at first."""
    program = tmp_path / "loading.py"
    program.write_text(
        "import sys, time\nfrom http.server import *\nbegan = time.monotonic()\n"
        "class H(BaseHTTPRequestHandler):\n"
        " def do_GET(self): self.send_response(200 if time.monotonic() - began > 1.5 else 503); self.end_headers()\n"
        "HTTPServer(('127.0.0.1', int(sys.argv[1])), H).serve_forever()\n"
    )
    began = time.monotonic()
    with ModelServer(f"{sys.executable} {program} {{port}}", tmp_path / "server.log", wait=20):
        assert time.monotonic() - began > 1.5


KILLED = """
import sys, time
from pathlib import Path
from assay.agents.llm.server import ModelServer
server = ModelServer(sys.argv[1], Path("server.log"), wait=20)
print(server.port, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_it_ends_with_a_run_that_is_killed_with_all_its_processes(tmp_path: Path, number: signal.Signals) -> None:
    command = f"sleep 600{os.getpid()} & {COMMAND}"
    run = subprocess.Popen([sys.executable, "-c", KILLED, command], stdout=subprocess.PIPE, cwd=tmp_path, text=True)
    assert run.stdout is not None
    port = run.stdout.readline().strip()
    assert find(port)
    assert find(f"600{os.getpid()}")
    run.send_signal(number)
    run.wait()
    run.stdout.close()
    wait_until(lambda: not find(port) and not find(f"600{os.getpid()}"))


def test_a_guard_that_is_killed_takes_the_server_along(tmp_path: Path) -> None:
    server = ModelServer(COMMAND, tmp_path / "server.log", wait=20)
    server._guard.kill()
    wait_until(lambda: not find(str(server.port)))
    server.close()
    with pytest.raises(UserError, match="does not run"):
        server.await_answer()


def test_a_model_error_of_a_running_server_is_not_waited_for(server: ModelServer) -> None:
    from assay.agents.llm.errors import ModelUnavailable

    class Busy:
        def complete(self, _request: Request) -> Answer:
            raise ModelUnavailable("busy", status=503)

    with pytest.raises(ModelUnavailable, match="busy"):
        Served(Busy(), server, time.sleep).complete(make_request())
