"""Limits on a running command: a deadline, a check every few seconds, and a cap on the output that is kept."""

import threading
from collections.abc import Callable

MIB = 1024 * 1024
DISK_POLL = 2.0
"""Seconds between two looks at what a box has written; a command that ends sooner costs none."""
FILE_TOO_LARGE = 153  # 128 + SIGXFSZ


class Deadline:
    """Calls back once after some seconds, unless cancelled before; ``fired`` is True once it has."""

    def __init__(self, seconds: float, callback: Callable[[], None]) -> None:
        self.fired = False
        self._callback = callback
        self._timer = threading.Timer(seconds, self._fire)
        self._timer.daemon = True

    def _fire(self) -> None:
        self.fired = True
        self._callback()

    def cancel(self) -> None:
        self._timer.cancel()

    def __enter__(self) -> "Deadline":
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.cancel()


class Watch:
    """Asks a question every few seconds, and calls back once at the first yes; ``fired`` is True once it has."""

    def __init__(self, every: float, question: Callable[[], bool], callback: Callable[[], None]) -> None:
        self.fired = False
        self._every = every
        self._question = question
        self._callback = callback
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        while not self._over.wait(self._every):
            if self._question():
                self.fired = True
                self._callback()
                return

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()


class CappedOutput:
    """Keeps up to ``limit`` bytes: of more, the first and the last half of that."""

    def __init__(self, limit: int) -> None:
        self._half = max(limit // 2, 1)
        self._head = bytearray()
        self._tail = bytearray()
        self._size = 0

    @property
    def truncated(self) -> bool:
        return self._size > 2 * self._half

    def add(self, chunk: bytes) -> bool:
        """Add bytes; return whether the limit has just been passed for the first time."""
        before = self.truncated
        self._size += len(chunk)
        room = self._half - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:] if room > 0 else chunk
        if len(self._tail) > 2 * self._half:
            del self._tail[: -self._half]
        return self.truncated and not before

    def text(self) -> bytes:
        """Return the kept bytes, with a line in the middle that counts the dropped ones."""
        if not self.truncated:
            return bytes(self._head + self._tail)
        tail = self._tail[-self._half :]
        dropped = self._size - len(self._head) - len(tail)
        return bytes(self._head) + b"\n[assay: %d bytes of output left out]\n" % dropped + bytes(tail)
