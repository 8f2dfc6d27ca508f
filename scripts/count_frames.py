"""Prints how many of Assay's own functions are on the stack where each walk of ARCHITECTURE.md reaches its end.

    python scripts/count_frames.py

Nothing is measured in time. A walk crosses threads and tasks: a stack begins where another one handed the work over,
and all of them count. Walks run on the fake engine, with a scripted model, or with a builder that ends early.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar, copy_context
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/support")]
FLOORS = tuple(str(ROOT / name) + "/" for name in ("harness", "instances", "agents", "src"))
LIMITS = {"evaluate": 11, "solve": 24, "build": 11, "reward": 8}
"""Frames at most; of a reward in each thread, of the others in all threads."""

Stack = tuple[str, ...]
Chain = tuple[Stack, ...]
"""The stacks of the threads that a walk crosses, from the first."""


class Ended(BaseException):
    """Ends a walk at its lowest call."""


class Tracer:
    """Knows, in every thread and task, which stacks handed the work over."""

    def __init__(self) -> None:
        self.chains: list[Chain] = []
        self._origin: ContextVar[Chain] = ContextVar("origin", default=())

    def chain(self) -> Chain:
        """Return the stacks down to the caller of the caller."""
        return (*self._origin.get(), read_stack(sys._getframe(2)))

    def note(self, *lowest: str) -> None:
        """Keep the chain down to the caller of the caller, and a lowest call that a listener stands in for."""
        self.chains.append((*self._origin.get(), (*read_stack(sys._getframe(2)), *lowest)))

    @contextmanager
    def following(self) -> Iterator[None]:
        """Follow work into the threads and tasks that it is handed to."""
        submit, start, task = ThreadPoolExecutor.submit, threading.Thread.start, asyncio.BaseEventLoop.create_task

        def submit_traced(pool: ThreadPoolExecutor, function: Callable[..., Any], /, *args: Any, **named: Any) -> Any:
            return submit(pool, self._follow(function, self.chain()), *args, **named)

        def start_traced(thread: threading.Thread) -> None:
            thread.run = self._follow(thread.run, self.chain())  # type: ignore[method-assign]
            start(thread)

        def create_traced(loop: asyncio.BaseEventLoop, work: Any, **named: Any) -> Any:
            context = named.pop("context", None) or copy_context()
            context.run(self._set_origin, self.chain())
            return task(loop, work, context=context, **named)

        with ExitStack() as stack:
            stack.enter_context(patch.object(ThreadPoolExecutor, "submit", submit_traced))
            stack.enter_context(patch.object(threading.Thread, "start", start_traced))
            stack.enter_context(patch.object(asyncio.BaseEventLoop, "create_task", create_traced))
            yield

    def _follow(self, function: Callable[..., Any], origin: Chain) -> Callable[..., Any]:
        def run(*args: Any, **named: Any) -> Any:
            self._set_origin(origin)
            return function(*args, **named)

        return run

    def _set_origin(self, chain: Chain) -> None:
        self._origin.set(tuple(stack for stack in chain if stack))


def read_stack(frame: FrameType | None) -> Stack:
    """Return Assay's own functions from the outermost, as ``folder/file.py function``."""
    found = []
    while frame is not None:
        path = str(Path(frame.f_code.co_filename).resolve())
        if path.startswith(FLOORS) and not frame.f_code.co_name.startswith("<"):
            found.append(f"{Path(path).relative_to(ROOT)} {frame.f_code.co_name}")
        frame = frame.f_back
    return tuple(reversed(found))


def walk_evaluate(folder: Path) -> Chain:
    """Follow ``assay evaluate`` to the call that runs the test command."""
    return follow_command(["evaluate", make_rows(folder), "--gold", "--engine", "fake", "--runs-dir", str(folder)])


def walk_solve(folder: Path) -> Chain:
    """Follow ``assay solve --agent agentless`` to the request for the model's answer."""
    import httpx

    from played_endpoint import played_endpoint

    tracer, post = Tracer(), httpx.AsyncClient.post

    def listen(client: httpx.AsyncClient, *args: Any, **named: Any) -> Any:
        if tracer.chain()[1:]:  # the first thread only asks whether the model is there
            tracer.note()
        return post(client, *args, **named)

    with played_endpoint() as endpoint, patch.object(httpx.AsyncClient, "post", listen):
        words = ["solve", make_rows(folder), "--agent", "agentless", "--model", "toy", "--base-url", endpoint.url]
        run_command([*words, "--engine", "fake", "--runs-dir", str(folder), "--jobs", "1"], tracer)
    return tracer.chains[0]


def walk_reward(folder: Path) -> Chain:
    """Follow ``POST /v1/rewards`` to the call that runs the test command."""
    from served import ask, served
    from toy import make_instance

    tracer = Tracer()
    with tracer.following(), listening(tracer), served([make_instance()], folder) as here, here.client() as client:
        client.post("/v1/rewards", json=ask()).raise_for_status()
    return tracer.chains[0]


def walk_build(folder: Path) -> Chain:
    """Follow an instance's image from the wish for it to the call that has its first layer built."""
    from assay.harness.domain import Recipe
    from assay.harness.engines.base import ImageInfo
    from assay.harness.engines.fake import FakeEngine
    from assay.instances.environments.image_builder import ImageBuilder
    from assay.instances.trees.sources import Sources
    from toy import make_instance

    tracer = Tracer()

    class Building(FakeEngine):
        """Has every toolchain, and ends a walk where it would build."""

        builds_images = True

        def find_image(self, name: str) -> ImageInfo | None:
            return ImageInfo(name, "sha256:0") if name.startswith("assay/toolchain") else None

        def build(self, *_args: Any, **_named: Any) -> None:
            tracer.note("harness/engines/docker.py build")
            raise Ended

    clone = folder / "mirrors/acme__calc"
    clone.mkdir(parents=True)
    (clone / "go.mod").write_text("module example.org/calc\n", encoding="utf-8")
    git = ["git", "-C", str(clone), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "base"]):
        subprocess.run([*git, *words], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    instance = make_instance(base_commit=commit, language="go", environment=Recipe(language="go"))
    builder = ImageBuilder(Building({}), Sources([clone.parent], folder / "cache"))
    with suppress(Ended):
        builder.build_image(instance)
    return tracer.chains[0]


def follow_command(words: list[str]) -> Chain:
    """Run a command and return the chain of the first test command."""
    tracer = Tracer()
    with listening(tracer):
        run_command(words, tracer)
    return tracer.chains[0]


def run_command(words: list[str], tracer: Tracer) -> None:
    """Run the command line in this process."""
    from assay.__main__ import main

    with tracer.following(), patch.object(sys, "argv", ["assay", *words]), suppress(SystemExit):
        main()


@contextmanager
def listening(tracer: Tracer) -> Iterator[None]:
    """Note the chain of every test command of the fake engine."""
    from assay.harness.engines.fake import FakeBox

    run = FakeBox.exec

    def listen(box: FakeBox, command: list[str], **more: Any) -> Any:
        if any("supervise" in word for word in command):
            tracer.note("harness/engines/fake.py exec")
        return run(box, command, **more)

    with patch.object(FakeBox, "exec", listen):
        yield


def make_rows(folder: Path) -> str:
    """Write a file of one row and return its path."""
    from assay.instances.dataset.formats import native
    from toy import make_instance

    path = folder / "rows.jsonl"
    path.write_text(json.dumps(native.from_instance(make_instance())) + "\n", encoding="utf-8")
    return str(path)


WALKS = {"evaluate": walk_evaluate, "solve": walk_solve, "build": walk_build, "reward": walk_reward}


def count_frames(name: str, chain: Chain) -> int:
    """Return the number that the limit of a walk is about."""
    return max(map(len, chain)) if name == "reward" else sum(map(len, chain))


def describe_walk(name: str, chain: Chain) -> str:
    """Return a walk's number of frames and its functions; a bar marks the step to another thread or task."""
    calls = " | ".join(" > ".join(call.split()[1] for call in stack) for stack in chain)
    return f"{name}: {count_frames(name, chain)} of at most {LIMITS[name]}: {calls}"


def main() -> None:
    """Print every walk, in short and with files."""
    for name, walk in WALKS.items():
        with tempfile.TemporaryDirectory() as folder:
            chain = walk(Path(folder))
        print(f"\n{describe_walk(name, chain)}")
        for number, stack in enumerate(chain, 1):
            print(f"  thread {number}: {len(stack)}")
            for call in stack:
                print(f"    {call}")


if __name__ == "__main__":
    main()
