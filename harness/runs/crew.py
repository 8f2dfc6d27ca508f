"""The work of a run: resume, several items at once, failed attempts again, and an orderly end at SIGINT or SIGTERM.

Evaluations, solvers' samples and comparisons with gold are all done by a Crew; each is a Work.
"""

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from types import FrameType
from typing import Any, Generic, Protocol, TypeVar

from assay.harness.errors import RunStopped
from assay.harness.runs.attempt import PAUSE, attempts
from assay.harness.runs.control import MOST_JOBS, Steering
from assay.harness.runs.pace import Pace
from assay.harness.runs.workbench import Workbench

Item = TypeVar("Item")
Item_contra = TypeVar("Item_contra", contravariant=True)
Attempt = TypeVar("Attempt")
Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)

PATIENCE = 4.0  # seconds that interrupted work has to end before the process exits without it
IMPATIENCE = 2.0  # the same after a second signal
SAVERS = 16
"""Results that are brought to the disk at once, beside the work: a disk takes them together in the time of one."""
INTERRUPTED = "interrupted; what is finished is saved, the same command resumes from there"


class Work(Protocol[Item_contra, Attempt, Result_co]):
    """One kind of work: knows what is finished, attempts an item and saves the result.

    ``attempt``, ``may_retry`` and ``save`` are called in any thread, the others in the caller's.
    """

    def key(self, item: Item_contra, /) -> str:
        """Return the name of an item, unique within the run."""

    def find_known(self, item: Item_contra, /) -> Result_co | None:
        """Return the result that an earlier process saved for exactly this item, or None."""

    def plan(self, pending: Mapping[str, Item_contra], total: int, /) -> list[str]:
        """Return the names of the pending items in the order in which they start; ``total`` counts the known ones too.

        An item may have to be read from the disk when it is asked for.
        """

    def begin(self, item: Item_contra, number: int, /) -> None:
        """Note that an attempt starts; ``number`` counts from 1."""

    def attempt(self, item: Item_contra, number: int, /) -> Attempt:
        """Do the item once."""

    def may_retry(self, item: Item_contra, attempt: Attempt, /) -> bool:
        """Return whether another attempt may do better; not called after a signal."""

    def save(self, item: Item_contra, attempt: Attempt, /) -> Result_co:
        """Save the last attempt and return the item's result."""


@dataclass(frozen=True)
class Progress(Generic[Item, Result]):
    """Callbacks of a run's watcher, called in any thread."""

    started: Callable[[Item], None] = lambda _item: None
    finished: Callable[[Result, bool], None] = lambda _result, _known: None
    """Gets the result, and whether it was known before this process."""
    planned: Callable[[Sequence[str], int], None] = lambda _pending, _jobs: None
    """Gets the names of what will be done, before any of it, and how much at once."""


@dataclass(frozen=True, slots=True)
class Pending(Mapping[str, Item]):
    """The items that have no result yet, by name; each is taken from a sequence when it is asked for."""

    _all: Sequence[Item]
    _places: dict[str, int]

    def include(self, name: str, place: int) -> None:
        self._places[name] = place

    def __getitem__(self, name: str) -> Item:
        return self._all[self._places[name]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


@dataclass(frozen=True, slots=True)
class Crew:
    """Does the work of one run in threads, until it is done or a signal stops it."""

    jobs: int
    abort: Callable[[], None]
    pause: float = PAUSE
    steering: Steering = field(default_factory=Steering)
    """What it is asked for while it works; several crews of a run share one."""
    _stop: threading.Event = field(default_factory=threading.Event)
    _at_work: set[str] = field(default_factory=set)
    _unsaved: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(SAVERS))
    _pace: Pace = field(init=False)

    def __post_init__(self) -> None:
        self.steering.jobs = self.steering.jobs or self.jobs
        object.__setattr__(self, "_pace", Pace(self.steering.jobs))

    def complete(
        self,
        work: Work[Item, Attempt, Result],
        items: Sequence[Item],
        *,
        fresh: bool = False,
        progress: Progress[Item, Result] | None = None,
    ) -> list[Result]:
        """Do every item that has no result yet, or all with ``fresh``; return the results in the order of the items.

        Each item is asked for once, and once more when its turn comes. In the main thread, a second signal, or work
        that outlasts PATIENCE after the first, ends the process with 130. Raises RunStopped: a signal ended the run;
        finished items are saved, and the same call resumes.
        """
        watcher = progress or Progress()
        names, done, pending = _split_known(work, items, watcher, fresh=fresh)
        order = work.plan(pending, len(items))
        watcher.planned(order, self.jobs)
        with (
            self._stoppable(),
            ThreadPoolExecutor(SAVERS, thread_name_prefix="assay-save") as disk,
            ThreadPoolExecutor(max(self.jobs, MOST_JOBS), thread_name_prefix="assay") as pool,
        ):
            ended: SimpleQueue[Future[Any] | None] = SimpleQueue()
            begun: dict[Future[Any], str] = {}
            saving: dict[Future[Any], str] = {}
            waiting = deque(order)
            self.steering.wake = partial(ended.put, None)
            try:
                while waiting or begun or saving:
                    for _ in range(self._count_free(begun, waiting)):
                        name = waiting.popleft()
                        future = pool.submit(self._do, work, name, pending, watcher, disk)
                        begun[future] = name
                        future.add_done_callback(ended.put)
                    over = ended.get()
                    if over in begun:
                        saved = over.result()
                        saving[saved] = begun.pop(over)
                        saved.add_done_callback(ended.put)
                    elif over in saving:
                        done[saving.pop(over)] = over.result()
                    waiting.extendleft(self._take_again(names, done, pending))
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
        return [done[name] for name in names]

    def _count_free(self, begun: Collection[object], waiting: Collection[object]) -> int:
        self._pace.allow(self.steering.jobs)
        return 0 if self.steering.paused else max(0, min(self.steering.jobs - len(begun), len(waiting)))

    def _take_again(self, names: Sequence[str], done: dict[str, Result], pending: Pending[Item]) -> Iterator[str]:
        """Yield the items that are wanted again and have a result; any other is done anyway."""
        while self.steering.again:
            name = self.steering.again.popleft()
            if done.pop(name, None) is not None:
                pending.include(name, names.index(name))
                yield name

    def _do(
        self,
        work: Work[Item, Attempt, Result],
        name: str,
        pending: Pending[Item],
        progress: Progress[Item, Result],
        disk: ThreadPoolExecutor,
    ) -> Future[Result]:
        """Attempt one item until it has not failed, and have it saved; raises RunStopped after a signal."""
        self._check(name)
        item = pending[name]
        self._at_work.add(name)
        try:
            progress.started(item)
            for number in attempts(self._stop, self.pause):
                with self._pace.turn(self._stop.is_set, lambda: self.steering.paused) as began:
                    self._check(name)
                    work.begin(item, number)
                    attempt = work.attempt(item, number)
                    broke = not self._stop.is_set() and work.may_retry(item, attempt)
                    self._pace.record(began, well=not broke)
                if not broke:
                    break
        finally:
            self._at_work.discard(name)
        self._check(name)
        self._unsaved.acquire()
        saved = disk.submit(self._save, work, item, attempt, progress)
        if self.jobs == 1:
            wait([saved])  # one thing after another: such a run goes the same way every time
        return saved

    def _save(
        self, work: Work[Item, Attempt, Result], item: Item, attempt: Attempt, progress: Progress[Item, Result]
    ) -> Result:
        try:
            result = work.save(item, attempt)
        finally:
            self._unsaved.release()
        progress.finished(result, False)
        return result

    def _check(self, name: str) -> None:
        """Raise RunStopped after a signal; results of aborted work mean nothing."""
        if self._stop.is_set():
            raise RunStopped(f"{name}: {INTERRUPTED}")

    @contextmanager
    def _stoppable(self) -> Iterator[None]:
        """Turn the first SIGINT or SIGTERM into ``abort`` and RunStopped; the second, or PATIENCE, ends the process.

        Handlers stay replaced after a signal: a second one must not give another exit status because the work ended
        between the two. Outside the main thread there are no signals to handle.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        signals = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.getsignal(number) for number in signals}
        deadline = threading.Timer(PATIENCE, self._leave, [0.0])
        deadline.daemon = True

        def stop(_number: int, _frame: FrameType | None) -> None:
            if self._stop.is_set():
                self._leave(IMPATIENCE)
            self._stop.set()
            deadline.start()
            # Not in this handler itself: the thread it interrupts may hold a lock that the engine's client needs.
            threading.Thread(target=self.abort, daemon=True).start()
            raise KeyboardInterrupt

        for number in signals:
            signal.signal(number, stop)
        try:
            yield
        except KeyboardInterrupt:
            raise RunStopped(INTERRUPTED) from None
        finally:
            deadline.cancel()
            if not self._stop.is_set():
                for number, handler in before.items():
                    signal.signal(number, handler)

    def _leave(self, seconds: float) -> None:
        """End the process with 130 when nothing is at work any more, or after some seconds.

        A container that is still there then is removed by the next run, which finds its owner dead.
        """
        latest = time.monotonic() + seconds
        while self._at_work and time.monotonic() < latest:
            time.sleep(0.02)
        if os.isatty(2):
            os.write(2, b"\x1b[?25h")  # the cursor, which a progress line hides
        os.write(2, f"\nassay: {INTERRUPTED}\n".encode())
        os._exit(130)


def make_crew(
    bench: Workbench,
    jobs: int,
    pause: float = PAUSE,
    steering: Steering | None = None,
    *,
    abort: Callable[[], None] | None = None,
) -> Crew:
    """Return the crew for work on a workbench: ``jobs`` items at once, or as many as a cluster has slots."""
    slots = bench.cluster.slots if bench.cluster else jobs
    return Crew(slots, abort or bench.abort, pause, steering or Steering())


def _split_known(
    work: Work[Item, Attempt, Result], items: Sequence[Item], progress: Progress[Item, Result], *, fresh: bool
) -> tuple[list[str], dict[str, Result], Pending[Item]]:
    names: list[str] = []
    known: dict[str, Result] = {}
    places: dict[str, int] = {}
    for place, item in enumerate(items):
        name = work.key(item)
        names.append(name)
        result = None if fresh else work.find_known(item)
        if result is None:
            places[name] = place
        else:
            known[name] = result
            progress.finished(result, True)
    return names, known, Pending(items, places)
