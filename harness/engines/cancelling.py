"""Ends the containers of one evaluation while others run."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, cast

from assay.harness.engines.base import Box, BoxSpec, Engine
from assay.harness.errors import EngineError, RunStopped


class Cancellation:
    """Asked for by any thread, once or never; an image that is being built is finished first."""

    def __init__(self) -> None:
        self.requested = False
        self._boxes: list[Box] = []
        self._lock = threading.Lock()

    def request(self) -> None:
        """Kill everything in the open boxes, and refuse to open more."""
        with self._lock:
            self.requested = True
            boxes = list(self._boxes)
        for box in boxes:
            with suppress(EngineError):
                box.end()

    def watch(self, engine: Engine) -> Engine:
        """Wrap an engine: its boxes end with the request, and it opens none afterwards."""
        return cast("Engine", _WatchedEngine(engine, self))

    @contextmanager
    def reaching(self, box: Box) -> Iterator[None]:
        """End a box with the request; raises RunStopped if it has been made already."""
        with self._lock:
            if self.requested:
                raise RunStopped("cancelled")
            self._boxes.append(box)
        try:
            yield
        finally:
            with self._lock:
                self._boxes.remove(box)


class _WatchedEngine:
    """An engine whose boxes a cancellation reaches."""

    def __init__(self, engine: Engine, cancellation: Cancellation) -> None:
        self.wrapped = engine
        self._cancellation = cancellation

    @contextmanager
    def open(self, spec: BoxSpec) -> Iterator[Box]:
        if self._cancellation.requested:
            raise RunStopped("cancelled")
        with self.wrapped.open(spec) as box, self._cancellation.reaching(box):
            yield box

    def __getattr__(self, name: str) -> Any:
        return getattr(self.wrapped, name)
