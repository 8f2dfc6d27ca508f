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
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

ROOT = Path.cwd()  # of the project
TESTS = frozenset(("tests", "test", "testing"))  # names of folders in which there are tests and what they need alone
GRACE = 4.0  # seconds beyond a probe's own limit before its worker is ended from outside
MAX_WORKERS = 8
LARGEST = 48 << 20  # bytes of a program's observations: of more than 64 MiB, nothing leaves a container
SET_UP = 60.0  # seconds beyond its budget until a worker has what it needs to run the first probe
PATIENCE = 3  # times the processor's seconds that may pass by the clock
DONE, BUDGET, LATE = "done", "budget", "late"
END = float(os.environ.get("ASSAY_END") or "inf")  # seconds since the epoch: by then, all is over
Line = Any  # one decoded JSON object: what the host reads, and the only shape that crosses the pipe


class WorkBudget:
    """A limit of work: seconds of the processor, so that a busy machine does little less.

    The kernel counts them for the whole container, in which nothing else runs. Where it does not report them, and for
    code that waits, seconds of the clock count: all of them, or a few times as many.
    """

    def __init__(self, seconds: float, end: float = END) -> None:
        self._end = end
        self.restart(seconds)

    def restart(self, seconds: float) -> None:
        self._seconds = seconds
        self._began, self._worked = time.monotonic(), processor_seconds()

    def remaining(self) -> float:
        """Return the seconds left; not positive when they, or those of the whole job, are over."""
        return min(self.share(), self._end - time.time())

    def share(self) -> float:
        """Return the seconds left, however soon the whole job is over."""
        by_clock = time.monotonic() - self._began
        by_work = processor_seconds() - self._worked if self._worked else by_clock
        return min(self._seconds - by_work, self._seconds * (PATIENCE if self._worked else 1) - by_clock)

    def is_spent(self) -> bool:
        return self.remaining() <= 0


def processor_seconds() -> float:
    """Return the processor time of all the container's processes; 0.0 where it is not known."""
    for path, read in CLOCKS:
        with contextlib.suppress(OSError, ValueError, IndexError), open(path, encoding="ascii") as file:  # noqa: PTH123
            return read(file.read())
    return 0.0


CLOCKS: "tuple[tuple[str, Callable[[str], float]], ...]" = (  # of control groups, version 2 and 1
    ("/sys/fs/cgroup/cpu.stat", lambda text: int(text.split("usage_usec", 1)[1].split(maxsplit=1)[0]) / 1e6),
    ("/sys/fs/cgroup/cpuacct/cpuacct.usage", lambda text: int(text) / 1e9),
)


class WorkerPipe:
    """The worker's end of the pipe: takes observations, and the marks that a `Watcher` takes in."""

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

    def make_inheritable(self) -> int:
        """Return the pipe's number, by which programs that this process turns into can write to it."""
        os.set_inheritable(self._descriptor, True)
        return self._descriptor


class Worker:
    """A child process that does some work and sends lines; it has no input, and its output is dropped."""

    def __init__(self, work: "Callable[[WorkerPipe], None]") -> None:
        self._reading, writing = os.pipe()
        self._rest, self._has_ended = b"", False
        self._pid = os.fork()
        if self._pid:
            os.close(writing)
            return
        try:
            os.setsid()
            os.close(self._reading)
            nothing = os.open(os.devnull, os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(nothing, descriptor)
            work(WorkerPipe(writing))
        finally:
            os._exit(0)

    def lines(self, seconds: float) -> "list[Line]":
        """Return the lines that come within some seconds; raises EOFError if no more can come."""
        self._has_ended = self._has_ended or bool(os.waitpid(self._pid, os.WNOHANG)[0])
        ready, _, _ = select.select([self._reading], [], [], 0.0 if self._has_ended else max(0.0, seconds))
        data = os.read(self._reading, 1 << 16) if ready else b""
        if not data and (ready or self._has_ended):
            raise EOFError
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [json.loads(line.decode("ascii")) for line in lines]

    def end(self) -> None:
        for end in (os.killpg, os.kill):
            with contextlib.suppress(OSError):
                end(self._pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            os.waitpid(self._pid, 0)
        os.close(self._reading)


class Watcher:
    """Runs work in worker processes, one after the other, until it is done or the budget is spent.

    Args:
        send: takes the observations.
        deadline: the budget; each worker has time to set up beside it.
        limit: seconds of a probe; a worker that takes more, and a grace, is ended.
    """

    def __init__(self, send: "Callable[[Line], None]", deadline: WorkBudget, limit: float) -> None:
        self._send, self._deadline, self._limit = send, deadline, limit
        self._left = 0.0  # of the budget when the present worker began to set up
        self._finished: set[str] = set()
        self._running, self._since = "", 0.0
        self._end = ""

    def watch(self, work: "Callable[[WorkerPipe, set[str]], str]") -> str:
        """Return how it ended: the work's own word, or for want of time.

        `work` gets the channel and the probes to leave out. A worker that dies or overstays leaves an observation of
        kind "died" or "timeout" for its probe, and the next one continues after that.
        """
        for _ in range(MAX_WORKERS):
            self._left = self._deadline.share()
            self._deadline.restart(self._left + SET_UP)
            worker = Worker(lambda channel: channel.send({"end": work(channel, self._finished)}))
            why = self._listen(worker)
            worker.end()
            if self._end or self._deadline.is_spent():
                return self._end or BUDGET
            probe = self._running or "program"
            test, _, mutant = probe.partition("|")
            self._send(observation(probe + "|fatal", test, (why, "", ""), "", mutant not in ("", "m0")))
            if not self._running:
                break
            self._finished.add(self._running)
            self._running = ""
        return DONE

    def _listen(self, worker: Worker) -> str:
        """Take lines until the worker ends, overstays or the budget is spent; return "died" or "timeout"."""
        while not self._deadline.is_spent():
            try:
                lines = worker.lines(min(0.2, self._deadline.remaining()))
            except EOFError:
                return "died"
            for line in lines:
                self._take(line)
            if self._end:
                return "died"
            if not lines and self._running and time.monotonic() - self._since > self._limit + GRACE:
                break
        return "timeout"

    def _take(self, line: Line) -> None:
        if "ready" in line:  # all is set up, for which the budget does not pay
            self._deadline.restart(self._left)
        elif "start" in line:  # a probe begins: from now on patience is limited
            self._running, self._since = line["start"], time.monotonic()
        elif "stop" in line:  # it is over, and need not be run again
            self._finished.add(line["stop"])
            self._running = ""
        elif "end" in line:
            self._end = line["end"]
        else:
            self._send(line)


def write_line(out: "IO[bytes]", line: Line) -> None:
    """Write one line and flush it, so that a killed program leaves whole ones; beyond `LARGEST`, only the end."""
    if out.tell() < LARGEST or "end" in line:
        out.write((json.dumps(line, sort_keys=True) + "\n").encode("ascii"))
        out.flush()


def use_project() -> None:
    """Make the project importable as its own tests do, and keep the archive's modules out of its way."""
    here = str(Path(sys.argv[0]).resolve())
    sys.path[:] = [str(Path.cwd())] + [entry for entry in sys.path if str(Path(entry or ".").resolve()) != here]


def observation(key: str, test: str, seen: "Sequence[str]", target: str, mutated: bool, **more: Any) -> Line:
    """Return the line of one observation.

    Args:
        key: the same for the same probe on every side.
        test: the test in which it was made.
        seen: "value", "error", "timeout", "died" or "missing", the type of the value or error, the value's text.
        target: the target that ran; "" if none did.
        mutated: the input is changed.
        more: ``literal``, by which a person can make the observation again, and the like.
    """
    kind, type_, text = seen
    return dict(more, key=key, test=test, kind=kind, type=type_, text=text, target=target, mutated=mutated)
