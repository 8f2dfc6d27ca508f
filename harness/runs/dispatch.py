"""How a run's work is done: several pieces at once, some of them again, and none any more when told to stop."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from assay.harness.errors import AssayError
from assay.harness.runs.executors import Executor
from assay.harness.runs.interrupts import leave, on_interrupt

Item = TypeVar("Item")
Result = TypeVar("Result")

ATTEMPTS = 3
"""Work whose infrastructure fails is tried this often; what a patch or a solver does wrong is never tried again."""


class InterruptedRunError(AssayError):
    """The run was told to stop while this was at work; what came of it is worthless."""


@dataclass(frozen=True, slots=True)
class Crew:
    """Does the work of one run, until it is done or told to stop."""

    executor: Executor
    jobs: int
    abort: Callable[[], None]
    """Ends all work that is under way, at once."""
    pause: float = 0.5
    """Seconds before a second attempt, twice as many before the third: an engine that restarts needs a moment."""
    _stop: threading.Event = field(default_factory=threading.Event)
    _at_work: set[str] = field(default_factory=set)

    def run(self, work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Do the work on every item and return what came of it, in any order.

        Args:
            work: called with one item, in any thread; says with ``at_work`` what must be over before the process ends.
            items: what there is to do, in the order in which it is begun.

        Raises:
            KeyboardInterrupt: told to stop; everything at work was aborted.

        In the main thread a second interrupt, or work that does not end after the first, ends the process with 130.
        """
        with on_interrupt(self._abort, partial(leave, self._at_work)):
            return list(self.executor(work, items, self.jobs))

    @contextmanager
    def at_work(self, name: str) -> Iterator[None]:
        """Tell that something is at work; raises InterruptedRunError, before it or after it, once told to stop."""
        self._refuse_when_stopped(name)
        self._at_work.add(name)
        try:
            yield
        finally:
            self._at_work.discard(name)
        self._refuse_when_stopped(name)

    def attempt(self, once: Callable[[int], Result], failed: Callable[[Result], bool]) -> Result:
        """Do something until it has not failed, three times at most, and return what came of it last.

        Args:
            once: does it; called with the number of the attempt, from 1.
            failed: whether another attempt may do better; not asked once told to stop, since then everything fails.
        """
        for number in range(ATTEMPTS):
            if number and self._stop.wait(self.pause * number):
                break
            result = once(number + 1)
            if self._stop.is_set() or not failed(result):
                break
        return result

    def _refuse_when_stopped(self, name: str) -> None:
        if self._stop.is_set():
            raise InterruptedRunError(name)

    def _abort(self) -> None:
        self._stop.set()
        # Not in the signal handler itself: the thread it interrupts may hold a lock that the engine's client needs.
        threading.Thread(target=self.abort, daemon=True).start()
