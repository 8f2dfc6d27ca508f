"""How many attempts run at once: more while they succeed, half as many when the infrastructure fails."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

START = 4  # attempts at once before any has succeeded
POLL = 0.2  # seconds between two looks at whether the run was stopped


class Pace:
    """A limit that follows what an engine bears; safe in several threads.

    It doubles with each success until the first failure, and grows by one with each success after it, up to ``most``.
    Attempts that were at work when it was halved, and fail as well, do not halve it again.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.limit = min(START, most)
        self._at_work = 0
        self._halvings = 0
        self._free = threading.Condition()

    @contextmanager
    def turn(self, stopped: Callable[[], bool], paused: Callable[[], bool] = lambda: False) -> Iterator[int]:
        """Wait for a turn, or until the run is stopped; yields the argument ``began`` of ``record``."""
        with self._free:
            while (self._at_work >= self.limit or paused()) and not stopped():
                self._free.wait(POLL)
            self._at_work += 1
            began = self._halvings
        try:
            yield began
        finally:
            with self._free:
                self._at_work -= 1
                self._free.notify_all()

    def allow(self, most: int) -> None:
        """Set another limit of the limit; what a person adds may be tried at once."""
        with self._free:
            self.limit = most if most > self._most else min(self.limit, most)
            self._most = most
            self._free.notify_all()

    def record(self, began: int, *, well: bool) -> None:
        """Count an attempt: ``well`` unless the infrastructure failed."""
        with self._free:
            if well:
                self.limit = min(self._most, self.limit + 1 if self._halvings else self.limit * 2)
            elif began == self._halvings:
                self._halvings += 1
                self.limit = max(1, self.limit // 2)
            self._free.notify_all()
