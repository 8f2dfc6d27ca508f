"""Records the arguments with which a project's tests call the functions under scrutiny, and their callers.

Runs inside a container, on one side of a comparison. Input: ``files``, ``targets``, ``functions_cap`` (functions
recorded), ``calls_cap`` (different calls of each), ``budget`` (seconds), ``own`` and ``command`` as for `amplify`.
Each line of output is one call: ``module``, ``qualname``, ``parameters``, ``private``, ``args`` (base64 of the pickled
(positional, by keyword), as they were before the body ran), ``literal`` (the same as a literal if it is plain data,
else ""), ``leaves`` (places that may be changed), ``digest``, ``test``. One more line has the strings of the test
files that reach a target (``strings``).

The tests run twice: to find the ones that reach a target, and through whom, then these alone to record.
"""

import ast
import base64
import contextlib
import gc
import hashlib
import io
import json
import pickle
import posixpath
import sys
import tokenize
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any, NamedTuple

from . import calls, hosting, running, scope, trace, values, wire

LARGEST = 100000  # bytes of one call's arguments
TRIES = 10  # calls looked at for each that may be kept
SEARCH = 0.4  # share of the budget for finding the tests
WALKS = 5  # calls of a target in one test whose callers are looked for
ABOVE = 30  # frames looked through for a caller


class ProjectFunction(NamedTuple):
    """A function by the names it is imported by."""

    module: str
    qualname: str
    path: str
    role: str

    @property
    def private(self) -> bool:
        parts = (self.module + "." + self.qualname).split(".")
        return any(part.startswith("_") and not part.endswith("__") for part in parts)


# what a function is to a target: the target, a caller that was given plain data alone, another caller
TARGET, PLAIN_CALLER, CALLER = "target", "plain caller", "caller"
ROLES = (PLAIN_CALLER, TARGET, CALLER)


class _Limited(io.BytesIO):
    """Takes up to `LARGEST` bytes; raises ValueError for more."""

    def write(self, data: Any) -> int:
        if self.tell() + len(data) > LARGEST:
            raise ValueError("too large")
        return super().write(data)


class Names:
    """Finds the import names of the project's code objects."""

    def __init__(self, files: "list[str]") -> None:
        self._root = str(wire.ROOT) + "/"
        self._tests = frozenset(str((wire.ROOT / file).resolve()) for file in files)
        self._known: dict[int, tuple[CodeType, ProjectFunction | None]] = {}

    def find(self, frame: "FrameType", role: str) -> "ProjectFunction | None":
        """Return a frame's function; None for tests, other projects, and code without an import name."""
        code = frame.f_code
        if id(code) not in self._known:
            self._known[id(code)] = (code, self._look(frame))
        known = self._known[id(code)][1]
        return known and known._replace(role=role)

    def _look(self, frame: "FrameType") -> "ProjectFunction | None":
        code, module = frame.f_code, str(frame.f_globals.get("__name__", "__main__"))
        path = posixpath.abspath(code.co_filename)  # pathlib raises while a test sets os.name
        if not path.startswith(self._root) or self._is_test(path) or code.co_name.startswith("<"):
            return None
        for held in gc.get_referrers(code):
            qualname = getattr(held, "__qualname__", "")
            if (
                getattr(held, "__code__", None) is code
                and "<" not in qualname
                and _is_importable(module, qualname, code)
            ):
                return ProjectFunction(module, qualname, path[len(self._root) :], TARGET)
        return None

    def _is_test(self, path: str) -> bool:
        names = path[len(self._root) :].split("/")
        beside = bool(wire.TESTS.union(("site-packages",)).intersection(names[:-1]))
        return path in self._tests or beside or names[-1].startswith(("test_", "conftest"))


def _is_importable(module: str, qualname: str, code: "CodeType") -> bool:
    with contextlib.suppress(AttributeError, ImportError):
        return module in sys.modules and any(each.__code__ is code for each in calls.find_functions(module, qualname))
    return False


class ReachSearch(running.Driver):
    """First run: which tests reach a target, and which functions of the project call it."""

    def __init__(self, job: "wire.Line", channel: "wire.WorkerPipe") -> None:
        super().__init__(job, channel)
        self._targets = trace.Targets(job["targets"])
        self._names = Names(job["files"])
        self._sent: set[object] = set()
        self._looked: dict[tuple[int, str], int] = {}
        self._test = ""

    def rounds(self, items: "list[Any]") -> "Iterator[list[Any]]":
        """Yield new tests, the issue's own first, each group led by tests that name a target."""
        (tests,) = super().rounds(items)
        yield from running.split_own(tests, self.job.get("own") or (), self.job["targets"])

    def before(self, item: Any) -> None:
        self._test = item.nodeid
        super().before(item)
        trace.follow(self.see_call)

    def after(self, item: Any) -> None:
        trace.follow(None)
        super().after(item)

    def see_call(self, frame: "FrameType", _event: str, _argument: object) -> None:
        code = frame.f_code
        looked = self._looked.get((id(code), self._test), 0)
        if self._targets.find(code) and looked < WALKS:
            self._looked[(id(code), self._test)] = looked + 1
            self._send({"reaches": self._test})
            self._send_function(self._names.find(frame, TARGET))
            self._send_callers(frame)

    def _send(self, line: "wire.Line") -> None:
        mark = json.dumps(line, sort_keys=True)
        if mark not in self._sent:
            self._sent.add(mark)
            self.channel.send(line)

    def _send_function(self, function: "ProjectFunction | None") -> None:
        if function is not None:
            self._send({"function": list(function)})

    def _send_callers(self, frame: "FrameType") -> None:
        """Send callers in the project: the nearest, the nearest public one, and the sources of the target's input.

        Such a source was given plain data alone, or is public and was given some that says something.
        """
        above: Any = frame.f_back
        open_ = {None, False}
        for _ in range(ABOVE):
            if above is None:
                return
            function = None if self._targets.find(above.f_code) else self._names.find(above, CALLER)
            if function is not None:
                held = [above.f_locals.get(name.lstrip("*"), ...) for name in calls.get_parameters(above.f_code)]
                if held and all(map(values.is_plain, held)):
                    self._send_function(function._replace(role=PLAIN_CALLER))
                elif open_ & {None, function.private} or (not function.private and any(map(_says_something, held))):
                    self._send_function(function)
                open_ -= {None, function.private}
            above = above.f_back


def _says_something(value: object) -> bool:
    """Return whether another value may stand in an argument's place."""
    return values.is_plain(value) and value not in (None, (), {}) and not isinstance(value, bool)


class Recording(ReachSearch):
    """Second run: the arguments of the functions found, in the tests that reach a target."""

    def __init__(self, job: "wire.Line", channel: "wire.WorkerPipe") -> None:
        super().__init__(job, channel)
        self._tests, self._functions = read_found(job["found"], int(job.get("functions_cap") or 10))
        self._own_names = {function.qualname.rpartition(".")[2] for function in self._functions}
        self._cap = int(job.get("calls_cap") or 40)
        self._left: dict[int, tuple[CodeType, ProjectFunction | None, list[int]]] = {}
        self._kept: set[str] = set()

    def rounds(self, items: "list[Any]") -> "Iterator[list[Any]]":
        return super().rounds([item for item in items if item.nodeid in self._tests])

    def see_call(self, frame: "FrameType", _event: str, _argument: object) -> None:
        code = frame.f_code
        known = self._left.get(id(code))
        if known is None:
            known = self._left[id(code)] = (code, self._find_wanted(frame), [self._cap, self._cap * TRIES])
        left = known[2]
        if known[1] is None or left[0] <= 0 or left[1] <= 0:
            return
        left[1] -= 1
        left[0] -= self._record(known[1], frame)

    def _find_wanted(self, frame: "FrameType") -> "ProjectFunction | None":
        if frame.f_code.co_name not in self._own_names:
            return None
        function = self._names.find(frame, TARGET)
        return next((each for each in self._functions if function and each[:2] == function[:2]), None)

    def _record(self, function: ProjectFunction, frame: "FrameType") -> bool:
        """Send a call, unless it is known or cannot be kept; return whether it was sent."""
        room = _Limited()
        try:
            arguments = calls.get_arguments(frame)
            if arguments is None:
                return False
            pickle.Pickler(room, 4).dump(arguments)
            pickle.loads(room.getvalue())  # some objects of a project can be written but not read again
            line = _call_line(function, frame.f_code, arguments, room.getvalue())
        except Exception:  # an object of the project that cannot be pickled may raise anything
            return False
        mark = function.module + ":" + function.qualname + line["digest"]
        if mark in self._kept:
            return False
        self._kept.add(mark)
        self.channel.send(dict(line, test=self._test))
        return True


def _call_line(function: ProjectFunction, code: "CodeType", arguments: Any, pickled: bytes) -> "dict[str, Any]":
    return {
        "module": function.module,
        "qualname": function.qualname,
        "private": function.private,
        "parameters": calls.get_parameters(code),
        "args": base64.b64encode(pickled).decode("ascii"),
        "literal": values.literal(arguments),
        "leaves": calls.find_leaves(arguments),
        "digest": hashlib.sha256(pickled).hexdigest()[:16],
    }


def read_found(rows: "list[wire.Line]", cap: int) -> "tuple[frozenset[str], list[ProjectFunction]]":
    """Return the tests of the first run that reach a target, and up to `cap` functions to record.

    These are taken from each role in turn, the public ones first.
    """
    tests = frozenset(row["reaches"] for row in rows if "reaches" in row)
    functions: dict[tuple[str, str], ProjectFunction] = {}
    for row in rows:
        if "function" in row:
            function = ProjectFunction(*row["function"])
            name = (function.module, function.qualname)
            functions[name] = min(function, functions.get(name, function), key=lambda each: ROLES.index(each.role))
    ranked: list[tuple[int, int, ProjectFunction]] = []
    for role in ROLES:
        alike = sorted((each for each in functions.values() if each.role == role), key=lambda each: each.private)
        ranked += [(place, ROLES.index(role), each) for place, each in enumerate(alike)]
    return tests, [function for _, _, function in sorted(ranked)[:cap]]


def _strings(files: "list[str]") -> "list[str]":
    """Return the strings of test files, the shortest of each."""
    found: set[str] = set()
    for file in files:
        with contextlib.suppress(OSError, SyntaxError, ValueError), tokenize.open(file) as opened:
            found.update(scope.collect_strings(ast.parse(opened.read())))
    return sorted(found)


def make_driver(job: "wire.Line", channel: "wire.WorkerPipe") -> ReachSearch:
    """Return the driver of the first run, or of the second, which knows the first one's results."""
    return Recording(job, channel) if "found" in job else ReachSearch(job, channel)


def run(job: wire.Line, send: "Callable[[wire.Line], None]") -> str:
    seconds, heard, end = float(job["budget"]), [], wire.DONE  # type: float, list[wire.Line], str
    search = wire.WorkBudget(seconds * SEARCH)
    hosting.watch("record", job, heard.append, budget=search)
    record = wire.WorkBudget(seconds * (1 - SEARCH) + max(0.0, search.remaining()))
    tests, functions = read_found(heard, int(job.get("functions_cap") or 10))
    if functions:
        end = hosting.watch("record", dict(job, found=heard), send, budget=record)
    send({"strings": _strings(running.select_files(tests, job["files"]))})
    return end
