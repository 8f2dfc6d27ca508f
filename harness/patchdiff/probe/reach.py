"""Finds the functions of some source files that each test runs.

Runs inside a container, on one side of a comparison. Input: ``files``, ``targets`` (source files, each named by its
path), ``budget`` and ``command`` as for `amplify`. One line of output has the number of tests of each file (``holds``).
Each other line is a test: ``test`` and ``ran`` (where the functions begin, by source file; line 0 of the file "" if the
test may have run more). What runs before the first test counts for every test.
"""

import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from . import running, trace, wire

ROOT = str(wire.ROOT) + "/"
HIDDEN = ("", 0)  # stands for what nobody has seen
STARTS = ("_execute_child", "_launch", "fork")  # in the standard library: what starts another process


class Reaching(running.Driver):
    """Runs every test as it is and notes the functions that begin."""

    def __init__(self, job: "wire.Line", channel: "wire.WorkerPipe") -> None:
        super().__init__(job, channel)
        self._targets = trace.Targets(job["targets"])
        self._read: list[str] = []
        self._early: set[tuple[str, int]] = set()
        self._ran = self._early
        trace.follow(self._see_call)

    def ready(self) -> None:
        trace.follow(None)
        self._early.discard(HIDDEN)
        super().ready()

    def rounds(self, items: "list[Any]") -> "Iterator[list[Any]]":
        files = [item.nodeid.partition("::")[0] for item in items]
        self.channel.send({"holds": {file: files.count(file) for file in dict.fromkeys([*files, *self._read])}})
        return super().rounds(items)

    def note_collected(self, name: str) -> None:
        """Note a file; without items it has no test, but for examples, which the project's own options may run."""
        if name in self.job["files"] and b">>> " not in (wire.ROOT / name).read_bytes():
            self._read.append(name)

    def before(self, item: Any) -> None:
        self._ran = set(self._early)
        super().before(item)
        trace.follow(self._see_call)

    def after(self, item: Any) -> None:
        """Stop looking; a test that has traced something itself has hidden what it ran."""
        if sys.gettrace() != self._see_call:
            self._ran.add(HIDDEN)
        trace.follow(None)
        ran: dict[str, list[int]] = {}
        for path, first in sorted(self._ran):
            ran.setdefault(path, []).append(first)
        self.channel.send({"test": item.nodeid, "ran": ran})
        super().after(item)

    def not_passed(self, error: BaseException, when: str) -> None:  # noqa: ARG002
        """A test that fails here may run more where the project's own command runs it."""
        self._ran.add(HIDDEN)

    def _see_call(self, frame: "FrameType", _event: str, _argument: object) -> None:
        code = frame.f_code
        path = self._targets.find(code)
        if path:
            self._ran.add((path, code.co_firstlineno))
        elif code.co_name in STARTS and not code.co_filename.startswith(ROOT):
            self._ran.add(HIDDEN)


make_driver = Reaching
