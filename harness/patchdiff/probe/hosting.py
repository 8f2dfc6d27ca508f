"""Drives tests inside the project's own test command, whatever runner that starts.

The interpreter's start-up puts a hook into every Python process below the command. In the first process that is about
to run tests, by whatever program, its runner has set everything up; there the driver takes the tests over.
"""

import importlib
import json
import os
import sys
import tempfile
import unittest
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from . import running, wire

PATIENCE = 120.0  # seconds of one probe, in a job without a limit
VARIABLE = "ASSAY_PROBE"  # names the file with the work
START_UP = "from assay_probe import hosting\n\nhosting.arm()\n"


def watch(
    program: str, job: "wire.Line", send: "Callable[[wire.Line], None]", budget: "wire.WorkBudget | None" = None
) -> str:
    """Run a job's tests in workers, with the driver that ``make_driver`` of `program` makes; return how it ended.

    One probe has the job's ``limit``, else `PATIENCE`; `budget` is a part of the job's own.
    """
    deadline = budget or wire.WorkBudget(float(job["budget"]))

    def work(channel: "wire.WorkerPipe", finished: "set[str]") -> str:
        now = dict(job, budget=deadline.share() - wire.SET_UP, finished=sorted(finished))
        if job.get("command"):
            become(job["command"], program, now, channel)
        driver = _make_driver(program, now, channel)
        running.run_tests(driver, running.get_job_files(job))
        return str(driver.end())

    return wire.Watcher(send, deadline, float(job.get("limit") or PATIENCE)).watch(work)


def become(command: str, program: str, job: "wire.Line", channel: "wire.WorkerPipe") -> None:
    """Turn this process into a test command whose tests a driver of `program` takes over; does not return."""
    folder, before = Path(tempfile.mkdtemp(prefix="assay-start-")), os.environ.get("PYTHONPATH", "")
    done_there = {
        "program": program,
        "job": job,
        "pipe": channel.make_inheritable(),
        "root": str(wire.ROOT),
        "path": before,
    }
    (folder / "work.json").write_text(json.dumps(done_there), encoding="ascii")
    (folder / "sitecustomize.py").write_text(START_UP, encoding="ascii")
    path = [str(folder), str(Path(sys.argv[0]).resolve()), before]
    more = {VARIABLE: str(folder / "work.json"), "PYTHONPATH": os.pathsep.join(filter(None, path))}
    os.execvpe("bash", ["bash", "-c", command], dict(os.environ, **more))


def arm() -> None:
    work = json.loads(Path(os.environ[VARIABLE]).read_text(encoding="ascii"))
    wire.ROOT = Path(work["root"])
    channel = wire.WorkerPipe(int(work["pipe"]))
    driver = _make_driver(work["program"], work["job"], channel)
    driver.collecting()
    run_suite = unittest.TestSuite.run

    def intercept(suite: unittest.TestSuite, result: Any, debug: bool = False) -> Any:
        unittest.TestSuite.run = run_suite  # type: ignore[method-assign]
        os.environ.update(PYTHONPATH=work["path"])  # what tests start is no test command
        driver.ready()
        result.addError = lambda _test, error: driver.not_passed(error[1], "setup")  # what tests raise, eyes have seen
        run_suite(_InRounds(driver, suite, work["job"].get("files") or ()), result, debug)
        channel.send({"end": driver.end()})
        return result

    unittest.TestSuite.run = intercept  # type: ignore[assignment, method-assign]


def _make_driver(program: str, job: "wire.Line", channel: "wire.WorkerPipe") -> Any:
    return importlib.import_module("." + program, __package__).make_driver(job, channel)


class _Item:
    """A test of unittest, under the name that pytest would give it."""

    def __init__(self, test: unittest.TestCase) -> None:
        kind = type(test)
        path = Path(str(getattr(sys.modules.get(kind.__module__), "__file__", "") or "")).resolve()
        self.file = path.relative_to(wire.ROOT).as_posix() if wire.ROOT in path.parents else path.name
        self.nodeid = "::".join((self.file, kind.__qualname__.replace(".", "::"), test.id().rpartition(".")[2]))
        self.test = test


class _InRounds(unittest.TestSuite):
    """The tests of a suite in the order in which a driver wants them."""

    _cleanup = False

    def __init__(self, driver: running.Driver, suite: unittest.TestSuite, files: "Sequence[str]") -> None:
        super().__init__()
        self._driver = driver
        place = {file: number for number, file in enumerate(files)}
        items = sorted(map(_Item, _flatten(suite)), key=lambda item: place.get(item.file, len(place)))
        self._items = {item.nodeid: item for item in items}  # a class that modules share comes once

    def __iter__(self) -> "Iterator[Any]":
        for item, _ in running.iterate_items(self._driver, list(self._items.values())):
            yield item.test


def _flatten(suite: Any) -> "list[Any]":
    if isinstance(suite, unittest.TestCase):
        return [suite]
    return [test for each in suite for test in _flatten(each)]
