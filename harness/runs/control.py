"""Control of a run at work: a file in its folder that its owner alone may write, and that the run reads.

The run holds a lock on the file for as long as it listens, and reads what it opened itself: who may write in the folder
can put another file there, which nobody then obeys.
"""

import fcntl
import json
import os
import signal
import stat
import threading
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from assay.harness.domain import INFRASTRUCTURE
from assay.harness.errors import UserError
from assay.harness.files import SAFE, parse_json, try_lock
from assay.harness.runs.store import CONTROL, RunStore

POLL = 0.2  # seconds between two looks at the file
MOST_JOBS = 1024
STOP = "stop"
EVENTS = {"pause": "paused", "resume": "resumed", "jobs": "jobs", "retry": "retried", STOP: "stopped"}
"""Orders, and the event of the journal that each becomes."""


@dataclass
class Steering:
    """What a crew is asked for while it works; changed in another thread."""

    jobs: int = 0
    """Items at once; 0 until the crew says how many it began with."""
    paused: bool = False
    again: deque[str] = field(default_factory=deque)
    """Names of items to do once more."""
    wake: Callable[[], object] = lambda: None

    def obey(self, order: str, value: str) -> None:
        if order == STOP:
            os.kill(os.getpid(), signal.SIGINT)
        elif order == "jobs":
            self.jobs = int(value)
        elif order == "retry":
            self.again.append(value)
        else:
            self.paused = order == "pause"
        self.wake()


@contextmanager
def listen(store: RunStore) -> Iterator[Steering]:
    """Take orders for the run of a store, whose lock is held, until the block ends; each is noted in its journal."""
    part, steering, over = store.root / f".{uuid.uuid4().hex}.new", Steering(), threading.Event()
    number = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    listener = threading.Thread(target=_read, args=(number, steering, over, store), daemon=True)
    try:
        fcntl.flock(number, fcntl.LOCK_EX)
        part.replace(store.root / CONTROL)
        listener.start()
        yield steering
    finally:
        over.set()
        with suppress(RuntimeError):  # it never began
            listener.join()
        for path in (part, store.root / CONTROL):
            path.unlink(missing_ok=True)
        os.close(number)


def _read(number: int, steering: Steering, over: threading.Event, store: RunStore) -> None:
    start = 0
    while not over.wait(POLL):
        lines, ended, _ = os.pread(number, os.fstat(number).st_size - start, start).rpartition(b"\n")
        start += len(lines) + len(ended)
        for line in filter(None, lines.split(b"\n")):
            order, value = parse_json(line)
            with suppress(OSError):  # a full disk keeps nobody from stopping the run
                is_retry = order == "retry"
                store.journal(EVENTS[order], value if is_retry else "", **({} if is_retry else {"value": value}))
            steering.obey(order, value)


def give_order(store: RunStore, order: str, value: str = "", *, force: bool = False) -> None:
    """Have a run at work do something; raises UserError if it is not at work, not this user's, or will not do it.

    ``retry`` needs ``force`` for an instance with a final verdict.
    """
    if order not in EVENTS:
        raise UserError(f"there is no order {order!r}; known are {', '.join(EVENTS)}")
    if order == "jobs" and not (value.isascii() and value.isdigit() and 1 <= int(value) <= MOST_JOBS):
        raise UserError(f"jobs are a number from 1 to {MOST_JOBS}, not {value!r}")
    if order == "retry":
        saved = store.load_verdict(value) if value in {each.instance_id for each in store.load_predictions()} else None
        if saved is None:
            raise UserError(f"{store.root} has no verdict on {value!r} yet: nothing to repeat")
        if saved.verdict.outcome not in INFRASTRUCTURE and not force:
            raise UserError(f"{value} ended as {saved.verdict.outcome}, which is a final verdict; --force repeats it")
    with _open(store.root, os.O_WRONLY | os.O_APPEND) as number:
        if number is None or try_lock(number, shared=True):
            raise UserError(f"{store.root} is not at work; the command that made it resumes it")
        about = os.fstat(number)
        if about.st_uid != os.geteuid() or about.st_nlink != 1 or not stat.S_ISREG(about.st_mode):
            raise UserError(f"{store.root} is another user's run; only who started it controls it")
        os.write(number, f"{json.dumps([order, value if order in {'jobs', 'retry'} else ''])}\n".encode())


@contextmanager
def _open(root: Path, flags: int) -> Iterator[int | None]:
    try:
        number = os.open(root / CONTROL, SAFE | flags)
    except FileNotFoundError:
        yield None
        return
    except OSError as error:
        raise UserError(f"{root} is another user's run; only who started it controls it ({error.strerror})") from None
    try:
        yield number
    finally:
        os.close(number)


def is_at_work(store: RunStore) -> bool:
    """Return whether a process is working on a run of this machine; another user's counts as if one were."""
    try:
        with _open(store.root, 0) as number:
            return number is not None and not try_lock(number, shared=True)
    except UserError:
        return True
