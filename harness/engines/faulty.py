"""An engine that fails on purpose: wraps any other and breaks the calls with given numbers.

A test breaks the first call, then the second, and so on until the run makes fewer calls than that.
"""

import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from assay.harness.engines.base import Box, BoxEnd, BoxSpec, Engine, ExecResult, ImageInfo, ImageLayer
from assay.harness.errors import EngineError

Result = TypeVar("Result")


class FaultKind(StrEnum):
    """How a call fails."""

    ERROR = "error"
    """The engine refuses it."""
    TIMEOUT = "timeout"
    """The engine does not answer; the call fails after a while."""
    CUT = "cut"
    """The engine does what it was asked, and the connection breaks before it says so."""


class FaultyEngine(Engine):
    """Counts every call of an engine and of its boxes, and makes some fail.

    ``abort`` alone is neither counted nor broken, since it reports no errors. The removal of a box counts as a call,
    and is carried out even if it fails: what a test finds left behind was left by the code under test.
    """

    def __init__(self, engine: Engine, fail_at: int | Collection[int], kind: str = "error", seconds: float = 0.05):
        """Break the calls of an engine with the number or numbers ``fail_at``, from 1, in one way of ``FaultKind``.

        ``seconds`` is how long a call takes to time out.
        """
        self.name = engine.name
        self.has_containers = engine.has_containers
        self.builds_images = engine.builds_images
        self.unenforced = engine.unenforced
        self.calls: list[str] = []
        """Names of all calls so far."""
        self.failed: list[str] = []
        """Names of the broken calls."""
        self.wrapped = engine
        """Does the work, so its code is what results depend on."""
        self._fail_at = {fail_at} if isinstance(fail_at, int) else fail_at
        self._kind = FaultKind(kind)
        self._seconds = seconds
        self._lock = threading.Lock()

    def call(self, name: str, function: Callable[[], Result]) -> Result:
        """Count a call and carry it out, or make it fail; raises EngineError."""
        fails = self.count(name)
        if fails and self._kind is not FaultKind.CUT:
            raise self.fault(name)
        result = function()
        if fails:
            raise self.fault(name)
        return result

    def count(self, name: str) -> bool:
        """Count a call; return whether it has to fail."""
        with self._lock:
            self.calls.append(name)
            fails = len(self.calls) in self._fail_at
            if fails:
                self.failed.append(name)
        return fails

    def fault(self, name: str) -> EngineError:
        """Return the error of a broken call, for a time-out after a while."""
        if self._kind is FaultKind.TIMEOUT:
            time.sleep(self._seconds)
        return EngineError(f"{self._kind} on purpose in {name}")

    @contextmanager
    def open(self, spec: BoxSpec) -> Iterator[Box]:
        fails = self.count("open")
        if fails and self._kind is not FaultKind.CUT:
            raise self.fault("open")
        with self.wrapped.open(spec) as box:
            if fails:
                raise self.fault("open")
            yield FaultyBox(self, box)
        if self.count("remove"):
            raise self.fault("remove")

    def describe(self) -> dict[str, str]:
        return self.call("describe", self.wrapped.describe)

    def find_image(self, name: str) -> ImageInfo | None:
        return self.call("find_image", lambda: self.wrapped.find_image(name))

    def list_images(self) -> list[ImageInfo]:
        return self.call("list_images", self.wrapped.list_images)

    def pull(self, name: str) -> ImageInfo:
        return self.call("pull", lambda: self.wrapped.pull(name))

    def remote_digest(self, name: str) -> str:
        return self.call("remote_digest", lambda: self.wrapped.remote_digest(name))

    def layers(self, name: str) -> tuple[ImageLayer, ...]:
        return self.call("layers", lambda: self.wrapped.layers(name))

    def push(self, name: str) -> None:
        self.call("push", lambda: self.wrapped.push(name))

    def tag(self, name: str, other: str) -> None:
        self.call("tag", lambda: self.wrapped.tag(name, other))

    @contextmanager
    def save(self, names: Sequence[str]) -> Iterator[Iterator[bytes]]:
        if self.count("save"):
            raise self.fault("save")
        with self.wrapped.save(names) as archive:
            yield archive

    def load(self, archive: Iterable[bytes]) -> None:
        self.call("load", lambda: self.wrapped.load(archive))

    def import_image(self, name: str, tar: Path, labels: Mapping[str, str]) -> None:
        self.call("import_image", lambda: self.wrapped.import_image(name, tar, labels))

    def build(
        self, name: str, context: Path, log: Path, *, secrets: Mapping[str, Path], labels: Mapping[str, str]
    ) -> None:
        self.call("build", lambda: self.wrapped.build(name, context, log, secrets=secrets, labels=labels))

    def remove_image(self, name: str) -> None:
        self.call("remove_image", lambda: self.wrapped.remove_image(name))

    def drop_build_cache(self) -> int:
        return self.call("drop_build_cache", self.wrapped.drop_build_cache)

    def abort(self) -> None:
        self.wrapped.abort()

    def orphans(self) -> list[str]:
        return self.call("orphans", self.wrapped.orphans)

    def reap(self, *, everything: bool = False) -> list[str]:
        return self.call("reap", lambda: self.wrapped.reap(everything=everything))


class FaultyBox(Box):
    """A box whose calls are counted by its engine, and some made to fail."""

    def __init__(self, engine: FaultyEngine, box: Box) -> None:
        self.create_seconds = box.create_seconds
        self.deliver_seconds = box.deliver_seconds
        self.start_seconds = box.start_seconds
        self._engine = engine
        self._box = box

    def exec(self, command: Sequence[str], **options: Any) -> ExecResult:
        return self._engine.call("exec", lambda: self._box.exec(command, **options))

    def put(self, archive: bytes, to: str = "/") -> None:
        self._engine.call("put", lambda: self._box.put(archive, to))

    def get(self, path: str, max_bytes: int) -> dict[str, bytes]:
        return self._engine.call("get", lambda: self._box.get(path, max_bytes))

    def end(self) -> BoxEnd:
        return self._engine.call("end", self._box.end)
