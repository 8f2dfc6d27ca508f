"""Runs test files that are not the project's own, each in a process of its own, and tells what they see.

Runs inside a container, on one side of a comparison. Input: ``trials`` (``name``, ``path`` in the tree, ``text``, and
``only``: the end of the name of the one test to run, or ""), ``read`` (paths of files whose text is told), ``limit``
(seconds for a trial), ``budget`` (seconds for all). A trial's file is laid into the tree for its run only; what it says
to its function ``assay_check`` is written down. The pytest is the project's own.
"""

import time
import tokenize
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from . import running, wire

if TYPE_CHECKING:
    from collections.abc import Callable

CHECK = "assay_check"  # the function of a trial's file that gets what is seen


class Witness:
    """A plugin of pytest that hears what the tests of one file see, and how they end."""

    def __init__(self, only: str) -> None:
        self._only = only
        self.items = 0
        self.rows: dict[str, int] = {}
        self.shown: list[Any] = []
        self.differs = False
        self.passed = True

    def pytest_collection_modifyitems(self, items: "list[Any]") -> None:
        """Keep the one test that is wanted, and listen to its file."""
        if self._only:
            items[:] = [item for item in items if row_of(item.nodeid) == self._only]
        self.items = len(items)
        for item in items:
            self.rows = rows_of(item)
        for module in {id(item.module): item.module for item in items if hasattr(item, "module")}.values():
            setattr(module, CHECK, self._listening(getattr(module, CHECK)))

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note a failure."""
        self.passed = self.passed and not report.failed and not report.skipped

    def _listening(self, check: "Callable[[Any], None]") -> "Callable[[Any], None]":
        def heard(shown: Any) -> None:
            self.shown.append(list(shown))
            try:
                check(shown)
            except BaseException:
                self.differs = True
                raise

        return heard


def row_of(nodeid: str) -> str:
    """Return what a test's name tells of its row of a parametrization, brackets included; "" if it has none."""
    _, bracket, row = nodeid.partition("[")
    return bracket + row


def rows_of(item: Any) -> "dict[str, int]":
    """Return the number of a test's row in each of its parametrizations, by the names of the arguments.

    Found by what the arguments are: the numbers that pytest keeps count other things from version to version.
    """
    spec = getattr(item, "callspec", None)
    given = dict(getattr(spec, "funcargs", None) or {}, **(getattr(spec, "params", None) or {}))
    found: dict[str, int] = {}
    for mark in item.iter_markers("parametrize") if given else ():
        names, table = _table(mark)
        for number, row in enumerate(table):
            values = getattr(row, "values", row)
            held = [values] if len(names) == 1 and values is row else list(values)
            if [id(value) for value in held] == [id(given.get(name)) for name in names]:
                found.update((name, found.get(name, number)) for name in names)
    return found


def _table(mark: Any) -> "tuple[list[str], list[Any]]":
    """Return the arguments of a parametrization and its rows; no rows if they can be drawn only once."""
    told = dict(zip(("argnames", "argvalues"), mark.args), **mark.kwargs)  # noqa: B905 - not before Python 3.10
    names, table = told.get("argnames", ""), told.get("argvalues", ())
    listed = [name.strip() for name in names.split(",") if name.strip()] if isinstance(names, str) else list(names)
    return listed, list(table) if hasattr(table, "__len__") else []


def tried(trial: "wire.Line") -> "wire.Line":
    """Run the tests of a trial's file in this process and return what they saw."""
    import pytest

    witness, began = Witness(trial["only"]), time.monotonic()
    status = pytest.main([*running.OPTIONS, trial["path"]], plugins=[witness])
    return {
        "trial": trial["name"],
        "status": int(status),
        "items": witness.items,
        "passed": witness.passed and int(status) == 0,
        "shown": witness.shown,
        "differs": witness.differs,
        "rows": witness.rows,
        "seconds": round(time.monotonic() - began, 3),
    }


def run_trial(trial: "wire.Line", out: Any, seconds: float, limit: float) -> None:
    """Lay a trial's file into the tree, run it in a worker, and take it away again; one that exists stays as it is."""
    path = Path(trial["path"])

    def work(channel: "wire.Channel", finished: "set[str]") -> str:
        if trial["name"] not in finished:
            channel.start(trial["name"])
            channel.send(tried(trial))
            channel.stop(trial["name"])
        return wire.DONE

    with path.open("x", encoding="utf-8") as file:
        file.write(trial["text"])
    try:
        wire.watch(work, out, seconds, limit)
    finally:
        path.unlink()


def source_of(path: str) -> str:
    """Return the text of a source file, by its own encoding; "" if it has none."""
    try:
        with tokenize.open(path) as file:
            return file.read()
    except (OSError, SyntaxError, UnicodeDecodeError):
        return ""


def has_pytest() -> bool:
    """Import pytest once for all trials; tell whether there is one."""
    try:
        import pytest
    except ImportError:
        return False
    return hasattr(pytest, "main")


def run(job: wire.Line, out: "IO[str]") -> str:
    """Do a job; return how it ended."""
    deadline = wire.Deadline(float(job["budget"]))
    for path in job.get("read") or ():
        wire.write_line(out, {"file": path, "source": source_of(path)})
    for trial in job.get("trials") or () if has_pytest() else ():
        if deadline.over():
            return wire.BUDGET
        run_trial(trial, out, deadline.left(), float(job["limit"]))
    return wire.DONE
