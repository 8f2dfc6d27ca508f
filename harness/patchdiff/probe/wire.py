"""JSON lines out of worker processes that may hang or die without loss.

Code under test runs in the worker only. The watcher reads the worker's lines from a pipe, writes them out at once, ends
a worker that overstays, says so in an observation, and starts another that continues after the fatal probe.
"""

import contextlib
import json
import os
import select
import signal
import sys
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path.cwd()  # of the project
GRACE = 4.0  # seconds beyond a probe's own limit before its worker is ended from outside
MAX_WORKERS = 8
SET_UP = 60.0  # seconds beyond its budget until a worker has what it needs to run the first probe
PATIENCE = 3  # times the processor's seconds that may pass by the clock
DONE, BUDGET, LATE = "done", "budget", "late"
END = float(os.environ.get("ASSAY_END") or "inf")  # seconds since the epoch: by then, all is over
Line = Any  # one decoded JSON object: what the host reads, and the only shape that crosses the pipe


class WorkBudget:
    """A share of work that a program must not pass: seconds of the processor, so that a busy machine does little less.

    The kernel counts them for the whole container, in which nothing else runs. Where it does not report them, and for
    code that waits, seconds of the clock count: all of them, or a few times as many.
    """

    def __init__(self, seconds: float, end: float = END) -> None:
        self._end = end
        self.restart(seconds)

    def restart(self, seconds: float) -> None:
        """Have so many seconds from now on."""
        self._seconds = seconds
        self._began, self._worked = time.monotonic(), worked()

    def left(self) -> float:
        """Return the seconds left; not positive when they are over, or when all is over."""
        return min(self.share(), self._end - time.time())

    def share(self) -> float:
        """Return the seconds left, however soon all is over."""
        by_clock = time.monotonic() - self._began
        by_work = worked() - self._worked if self._worked else by_clock
        return min(self._seconds - by_work, self._seconds * (PATIENCE if self._worked else 1) - by_clock)

    def over(self) -> bool:
        """Return whether the time is over."""
        return self.left() <= 0


def worked() -> float:
    """Return the seconds that the container's processes have had of the processor; 0.0 where they are not known."""
    for path, read in CLOCKS:
        try:
            with open(path, encoding="ascii") as file:  # noqa: PTH123 - asked after every probe
                return read(file.read())
        except (OSError, ValueError, IndexError):
            continue
    return 0.0


def _usage_usec(text: str) -> float:
    return int(text.split("usage_usec", 1)[1].split(maxsplit=1)[0]) / 1e6


CLOCKS = (  # of control groups, version 2 and 1
    ("/sys/fs/cgroup/cpu.stat", _usage_usec),
    ("/sys/fs/cgroup/cpuacct/cpuacct.usage", lambda text: int(text) / 1e9),
)


class WorkerPipe:
    """The worker's end of the pipe."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._owner = os.getpid()

    def send(self, line: Line) -> None:
        """Send one line; a process forked by the code under test has no voice here."""
        if os.getpid() != self._owner:
            return
        data = (json.dumps(line, sort_keys=True) + "\n").encode("ascii")
        while data:
            data = data[os.write(self._descriptor, data) :]

    def inherited(self) -> int:
        """Return the pipe's number, by which programs that this process turns into can write to it."""
        os.set_inheritable(self._descriptor, True)
        return self._descriptor

    def ready(self) -> None:
        """Say that all is set up: the budget does not pay for that."""
        self.send({"ready": True})

    def start(self, probe: str) -> None:
        """Say that a probe begins: from now on the watcher's patience is limited."""
        self.send({"start": probe})

    def stop(self, probe: str) -> None:
        """Say that a probe is over and need not be run again."""
        self.send({"stop": probe})


class Worker(NamedTuple):
    """A running worker: its process and the pipe its lines come from."""

    pid: int
    pipe: int


class Watcher:
    """The watcher's state: which probes are over, which one is running, since when, and the time left."""

    def __init__(self, out: "IO[str]", deadline: WorkBudget) -> None:
        self.out = out
        self.finished: set[str] = set()
        self.deadline = deadline
        self.left = 0.0
        self.running = ""
        self.since = 0.0
        self.end = ""

    def begin(self) -> None:
        """Give a new worker time to set up, beside what is left."""
        self.left = self.deadline.share()
        self.deadline.restart(self.left + SET_UP)

    def take(self, line: Line) -> None:
        """Take one line of the worker: a mark, or an observation to be written out."""
        if "ready" in line:
            self.deadline.restart(self.left)
        elif "start" in line:
            self.running, self.since = line["start"], time.monotonic()
        elif "stop" in line:
            self.finished.add(line["stop"])
            self.running = ""
        elif "end" in line:
            self.end = line["end"]
        else:
            write_line(self.out, line)

    def overstayed(self, limit: float) -> bool:
        """Return whether the running probe has had its limit and the grace."""
        return bool(self.running) and time.monotonic() - self.since > limit + GRACE


def write_line(out: "IO[str]", line: Line) -> None:
    """Write one line and flush it, so that a killed program leaves whole lines."""
    out.write(json.dumps(line, sort_keys=True) + "\n")
    out.flush()


def use_project() -> None:
    """Make the project importable as its own tests do, and keep the archive's out of its way."""
    here = str(Path(sys.argv[0]).resolve())
    sys.path[:] = [str(Path.cwd())] + [entry for entry in sys.path if str(Path(entry or ".").resolve()) != here]


def watch(work: "Callable[[WorkerPipe, set[str]], str]", out: "IO[str]", deadline: WorkBudget, limit: float) -> str:
    """Run `work` in worker processes until it is done or the budget is spent; return which of the two.

    `work` gets the channel and the probes to leave out, and returns how it ended. A worker that dies or overstays
    `limit` plus a grace leaves an observation of kind "died" or "timeout" for the probe it was at.
    """
    seen = Watcher(out, deadline)
    for _ in range(MAX_WORKERS):
        seen.begin()
        worker = _spawn(work, seen.finished)
        why = _listen(worker, seen, deadline, limit)
        _end(worker)
        if seen.end or deadline.over():
            return seen.end or BUDGET
        probe = seen.running or "program"
        write_line(out, fatal(probe, why))
        if not seen.running:
            break
        seen.finished.add(probe)
        seen.running = ""
    return DONE


def fatal(probe: str, why: str) -> Line:
    """Return the observation of a probe that took its whole process with it; `why` is "died" or "timeout"."""
    test, _, mutant = probe.partition("|")
    return {
        "key": probe + "|fatal",
        "test": test,
        "mutated": mutant not in ("", "m0"),
        "target": "",
        "reached": False,
        "kind": why,
        "type": "",
        "text": "",
        "literal": {},
    }


def _spawn(work: "Callable[[WorkerPipe, set[str]], str]", finished: "set[str]") -> Worker:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return Worker(pid, reading)
    status = 1
    try:
        os.setsid()
        os.close(reading)
        _silence()
        channel = WorkerPipe(writing)
        channel.send({"end": work(channel, finished)})
        status = 0
    finally:
        os._exit(status)


def _silence() -> None:
    """Give the worker no input and no terminal: what tests print is theirs, not ours."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)


def _listen(worker: Worker, seen: Watcher, deadline: WorkBudget, limit: float) -> str:
    """Take lines until the worker ends, overstays or the budget is spent; return "died" or "timeout"."""
    rest = b""
    while not deadline.over():
        ready, _, _ = select.select([worker.pipe], [], [], min(0.2, max(0.0, deadline.left())))
        data = os.read(worker.pipe, 1 << 16) if ready else b""
        if ready and not data:
            return "died"
        lines = (rest + data).split(b"\n")
        rest = lines.pop()
        for line in lines:
            seen.take(json.loads(line.decode("ascii")))
        if seen.end:
            return "died"
        if not ready and seen.overstayed(limit):
            return "timeout"
        if not ready and os.waitpid(worker.pid, os.WNOHANG)[0]:
            return "died"
    return "timeout"


def _end(worker: Worker) -> None:
    """End the worker and everything it started."""
    for end in (os.killpg, os.kill):
        try:
            end(worker.pid, signal.SIGKILL)
        except OSError:
            continue
    with contextlib.suppress(OSError):
        os.waitpid(worker.pid, 0)
    os.close(worker.pipe)
