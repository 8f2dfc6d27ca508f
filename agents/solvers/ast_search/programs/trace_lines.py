"""Run tests and report which lines of the repository each one executes.

Runs in the root of the repository. Arguments: ``script`` or ``tests``, the seconds after which no further test starts,
and paths. A script passes or fails as a whole; test files run by pytest if it is installed, else by unittest. Output:
one line of JSON, after whatever the tests print.

Only lines of functions count, and none that run during an import, since the first test that imports a module runs them
for all others. Other processes are not traced. Paths are made absolute without following links, as imports do.
"""

import dis
import importlib
import json
import os
import runpy
import sys
import threading
import time
import unittest
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import CodeType, FrameType

MARK = "ASSAY_COVERAGE "
_OF_A_FUNCTION = 1  # CO_OPTIMIZED: neither a module's code nor a class's
# runs through every import of what is not loaded yet; known by identity, as looking at names would cost every call
_FIND_AND_LOAD = id(sys.modules["_frozen_importlib"]._find_and_load.__code__)
_FOREIGN = ("site-packages", "dist-packages", ".git", ".tox", ".venv", ".nox", "node_modules")


class Traced:
    """Lines of one code object that a test executed."""

    __slots__ = ("_seen", "_wanted", "handle_line", "is_done", "lines", "path")

    def __init__(self, code: "CodeType", path: str) -> None:
        self.path = path
        self.lines = set()  # type: set[int]
        self.is_done = False  # all lines were seen: the code may run at full speed
        self._seen = 0
        # the line of "def" has code since Python 3.11, but no event
        self._wanted = {line for _, line in dis.findlinestarts(code)} - {code.co_firstlineno, None}
        add = self.lines.add

        def handle_line(frame: "FrameType", event: str, _argument: object) -> Any:
            if event == "line":
                add(frame.f_lineno)
            return handle_line

        self.handle_line = handle_line

    def handle_call(self) -> Any:
        """Return the tracer of another call of the code; None if all its lines were seen."""
        if self._seen != len(self.lines):
            self._seen = len(self.lines)
            self.is_done = self._wanted <= self.lines
        return None if self.is_done else self.handle_line


class Imports(threading.local):
    """Number of nested imports that are running in the current thread."""

    under_way = 0

    def handle_call(self) -> Any:
        self.under_way += 1
        return self._handle_event

    def _handle_event(self, _frame: "FrameType", event: str, _argument: object) -> Any:
        if event == "return":  # also by an exception
            self.under_way -= 1
        return self._handle_event


class Coverage:
    """Executed lines of the repository, test by test."""

    def __init__(self, root: str, deadline: float) -> None:
        self.tests = []  # type: list[dict[str, Any]]
        self._root = root + os.sep
        self._deadline = deadline
        # by identity: code objects are costly to compare; kept, so that no other one gets the identity
        self._kept = {}  # type: dict[int, CodeType]
        self._foreign = set()  # type: set[int]
        self._traced = {}  # type: dict[int, Traced]

    def is_late(self) -> bool:
        return time.time() > self._deadline

    def begin(self) -> None:
        """Start a test; other tracers, such as those of coverage plug-ins, are replaced."""
        self._traced = {}
        handle_call = self._listener()
        threading.settrace(handle_call)
        sys.settrace(handle_call)

    def end(self, name: str, failed: "bool | None") -> None:
        """End a test; one that neither failed nor passed is dropped."""
        sys.settrace(None)
        threading.settrace(None)
        if failed is not None:
            lines = {}  # type: dict[str, set[int]]
            for traced in list(self._traced.values()):
                lines.setdefault(traced.path, set()).update(traced.lines)
            executed = {path: ranges(numbers) for path, numbers in sorted(lines.items()) if numbers}
            self.tests.append({"name": name, "failed": failed, "lines": executed})

    def _listener(self) -> Any:
        """Return the global tracer; most calls are of foreign code and must be cheap."""
        foreign, traced = self._foreign, self._traced
        imports = Imports()  # new for each test: an import that lost its tracer never sees its end

        def handle_call(frame: "FrameType", _event: str, _argument: object) -> Any:
            code = frame.f_code
            key = id(code)
            if key in foreign:
                return None
            if key == _FIND_AND_LOAD:
                return imports.handle_call()
            if imports.under_way:
                return None
            known = traced.get(key)
            return known.handle_call() if known else self._first_call(code)

        return handle_call

    def _first_call(self, code: "CodeType") -> Any:
        key = id(code)
        self._kept[key] = code
        path = self._path(code)
        if not path:
            self._foreign.add(key)
            return None
        return self._traced.setdefault(key, Traced(code, path)).handle_line

    def _path(self, code: "CodeType") -> str:
        """Return the path in the repository of a function's code; empty for other code."""
        file = os.path.abspath(code.co_filename)  # noqa: PTH100
        is_code = code.co_flags & _OF_A_FUNCTION and not code.co_filename.startswith("<")
        if not is_code or not file.startswith(self._root):
            return ""
        path = file[len(self._root) :].replace(os.sep, "/")
        return "" if set(path.split("/")) & set(_FOREIGN) else path


class PytestPlugin:
    """pytest plug-in that records the lines of each test."""

    def __init__(self, coverage: Coverage) -> None:
        self._coverage = coverage
        self._session = None  # type: Any
        self._failed = None  # type: bool | None

    def pytest_sessionstart(self, session: Any) -> None:
        self._session = session

    def pytest_runtest_logstart(self, nodeid: str) -> None:  # noqa: ARG002 - pytest looks at the name
        self._failed = None
        if self._coverage.is_late():
            self._session.shouldstop = "out of time"
        self._coverage.begin()

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self._failed = True
        elif report.when == "call" and report.passed and self._failed is None:
            self._failed = False

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._coverage.end(nodeid, self._failed)


class TracedResult(unittest.TestResult):
    """unittest result that records the lines of each test."""

    def __init__(self, coverage: Coverage) -> None:
        super().__init__()
        self._coverage = coverage

    def startTest(self, test: unittest.TestCase) -> None:  # noqa: N802
        super().startTest(test)
        self.shouldStop = self._coverage.is_late()
        self._before = (self._bad(), len(self.skipped) + len(self.expectedFailures))
        self._coverage.begin()

    def stopTest(self, test: unittest.TestCase) -> None:  # noqa: N802
        bad, aside = self._before
        failed = self._bad() > bad  # type: bool | None
        if not failed and len(self.skipped) + len(self.expectedFailures) > aside:
            failed = None
        self._coverage.end(test.id(), failed)
        super().stopTest(test)

    def _bad(self) -> int:
        return len(self.failures) + len(self.errors) + len(self.unexpectedSuccesses)


def ranges(numbers: "set[int]") -> "list[list[int]]":
    found = []  # type: list[list[int]]
    for number in sorted(numbers):
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return found


def run_script(coverage: Coverage, path: str) -> None:
    sys.argv = [path]
    failed = False
    coverage.begin()
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as ended:
        failed = ended.code not in (None, 0)
    except BaseException:
        failed = True
    coverage.end(path, failed)


def run_tests(coverage: Coverage, paths: "list[str]") -> None:
    """Run test files by pytest, or by unittest if pytest is not installed."""
    sys.argv = ["pytest"]
    try:
        pytest = importlib.import_module("pytest")  # type: Any
    except ImportError:
        names = [path[: -len(".py")].replace("/", ".") for path in paths if path.endswith(".py")]
        unittest.defaultTestLoader.loadTestsFromNames(names).run(TracedResult(coverage))
        return
    options = ["-q", "-p", "no:cacheprovider", "--continue-on-collection-errors"]
    pytest.main(options + paths, plugins=[PytestPlugin(coverage)])


def main(mode: str, seconds: str, paths: "list[str]") -> None:
    """Run the script or the tests with their output discarded, and print the coverage."""
    output, nowhere = os.dup(1), os.open(os.devnull, os.O_RDWR)
    for channel in (1, 2):
        os.dup2(nowhere, channel)
    sys.dont_write_bytecode = True
    root = os.getcwd()  # noqa: PTH109
    sys.path.insert(0, root)
    coverage = Coverage(root, time.time() + float(seconds))
    try:
        if mode == "script":
            run_script(coverage, paths[0])
        else:
            run_tests(coverage, paths)
    finally:
        os.chdir(root)
        with os.fdopen(output, "w") as out:
            out.write("\n" + MARK + json.dumps({"tests": coverage.tests}) + "\n")
            out.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
    os._exit(0)  # even if the tests left threads running
