"""A service on loopback, in a thread of this process or as a process of its own, for tests that ask it over HTTP."""

import asyncio
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from assay import Evaluator, Instance
from assay.harness.engines.fake import FakeEngine
from assay.harness.errors import AssayError, EngineError
from assay.service.serve import ServiceOptions, open_server
from assay.service.server import HttpServer
from toy import GOLD

WRONG = GOLD.replace("+    return a + b", "+    return a * b")
SLOW = 120.0
"""Seconds that a busy machine may take for anything."""


def ask(name: str = "acme__calc-1", patch: str = GOLD, **more: Any) -> dict[str, Any]:
    return {"instance_id": name, "patch": patch, **more}


def wrong(number: int) -> str:
    return GOLD.replace("+    return a + b", f"+    return a * {number}")


@dataclass
class Served:
    """A service in a thread."""

    url: str
    engine: FakeEngine
    server: HttpServer
    evaluator: Evaluator
    folder: Path
    loop: asyncio.AbstractEventLoop
    said: list[str] = field(default_factory=list)
    drained: list[bool] = field(default_factory=list)

    def client(self, **settings: Any) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=SLOW, trust_env=False, **settings)

    def stop(self) -> None:
        self.loop.call_soon_threadsafe(self.server.stop)

    def break_engine(self, error: AssayError | None = None) -> None:
        """Have every container fail to open from now on."""

        def fault(call: str, _image: str) -> None:
            if call == "open":
                raise error or EngineError("node 7 is gone")

        self.engine.fault = fault

    def figure(self, name: str) -> float:
        return self.figure_with("", name)

    def figure_with(self, token: str, name: str) -> float:
        with self.client(headers={"X-API-Key": token}) as client:
            lines = client.get("/metrics").text.splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines if line.partition("{")[0].split()[0] == name)


def connect(here: Served) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(here.url.rpartition(":")[2])), timeout=60)


@contextmanager
def served(
    instances: Sequence[Instance],
    folder: Path,
    *,
    jobs: int = 2,
    drain: float = SLOW,
    settings: Mapping[str, Any] | None = None,
    **options: Any,
) -> Iterator[Served]:
    """Serve instances with the fake engine, and further settings of evaluations, until the block ends."""
    evaluator = Evaluator(instances, engine="fake", jobs=jobs, **(settings or {}))
    engine = getattr(evaluator.place.bench.engine, "wrapped", evaluator.place.bench.engine)
    assert isinstance(engine, FakeEngine)
    ready = threading.Event()
    found: list[Served] = []

    async def serve() -> None:
        with evaluator, open_server(evaluator, folder, ServiceOptions(drain=drain, **options)) as server:
            here = Served(server.url, engine, server, evaluator, folder, asyncio.get_running_loop())
            found.append(here)
            ready.set()
            here.drained.append(await server.serve(drain, here.said.append))

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert ready.wait(SLOW)
    try:
        yield found[0]
    finally:
        with suppress(RuntimeError):  # its loop is closed: it has ended by itself
            found[0].stop()
            found[0].stop()
        thread.join(SLOW)


@contextmanager
def process(folder: Path, *args: str, **env: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run ``assay serve`` in a folder; give the process and its address."""
    command = [sys.executable, "-m", "assay", "serve", *args, "--engine", "fake", "--port", "0"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True, env={**os.environ, **env}) as started:
        try:
            assert started.stderr is not None
            address = next(line.split()[1] for line in started.stderr if line.startswith("open "))
            yield started, address.removesuffix("/docs")
        finally:
            if started.poll() is None:
                started.kill()


def until(condition: Any) -> None:
    """Wait for a condition."""
    latest = time.monotonic() + SLOW
    while not condition():
        assert time.monotonic() < latest, "it did not come true"
        time.sleep(0.01)
