"""Makes calls again where tests make them, with the objects they are given there and some of the plain data changed.

For calls that cannot be recorded, of methods of objects that no other process can be told of, and for those that need
what is around them in a test, such as an application that is running. Runs inside a container, on one side of a
comparison. Input: ``files``, ``tests`` (names of those to run), ``functions`` (lists of module, qualname, and whether
private), ``targets``, ``seed``, ``mutants`` (changed copies of each call; ``own_mutants`` in the tests that
``own`` names), ``calls_cap`` (different calls of one function), ``limit`` (seconds for a call), ``budget``, ``only``
(keys, or null for all) and ``together`` as for `replay`, ``runner`` and optionally ``before`` and ``words`` as for
`amplify`, and ``donors`` as for `replay`. Each line of output is an observation as `replay` makes
them, but of arguments only what built-in containers hold.

While a test runs, the code of each function stands aside for a call of this module, which forks a child for every copy,
and then makes the call itself. Calls are told apart by the plain data among their arguments, so that what is compared
was given the same on both sides.
"""

import builtins
import functools
import hashlib
import types
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from . import calls, lookup, redo, running, texts, trace, values, wire

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FunctionType

HOOK = "_assay_again"  # put into builtins: what a function's code calls in its place
PATIENCE = 120.0  # seconds for one test with all that is made in it
FIRST = 12  # changed copies of each call in the first run of the tests; the rest come in a second
ALIKE = 2  # calls of one function that are given the same plain data


class CalledFunction(NamedTuple):
    """A function whose calls are made again."""

    module: str
    qualname: str
    private: bool

    @property
    def name(self) -> str:
        """What it is imported by."""
        return self.module + ":" + self.qualname


class Aside:
    """A function whose code stands aside while a test runs."""

    def __init__(self, function: CalledFunction, which: int, held: "FunctionType") -> None:
        self.function = function
        self.which = which  # of the functions that its name leads to
        self.calls = 0  # in the test so far
        self._held, self._code = held, held.__code__
        self.made: Any = types.FunctionType(self._code, held.__globals__, held.__name__, held.__defaults__)
        self.made.__kwdefaults__ = held.__kwdefaults__

    def stand(self, number: int) -> None:
        """Have the hook called in the function's place, with a number."""
        source = "lambda *args, **kwargs: " + HOOK + "(" + str(number) + ", args, kwargs)"
        self._held.__code__ = eval(source, {}).__code__

    def go_back(self) -> None:
        """Put the function's code back."""
        self._held.__code__ = self._code


class InPlaceReplay(running.Driver):
    """Runs the tests, with the functions' calls made again in children on the way."""

    def __init__(self, job: "wire.Line", channel: "wire.WorkerPipe", finished: "set[str]") -> None:
        self._job = job
        self._channel = channel
        self._finished = finished
        self._deadline = wire.WorkBudget(float(job["budget"]))
        self._only = frozenset(job.get("only") or ())
        self._wanted = frozenset(key.rpartition("|")[0] for key in self._only)
        self._names = frozenset(probe.rpartition("|m")[0] for probe in self._wanted)
        self._tests = {key.rsplit("|", 3)[0] for key in self._only} or set(job["tests"])
        self._functions = [CalledFunction(*row) for row in job["functions"]]
        self._reach = trace.Reach(trace.read_targets(job["targets"]))
        self._aside: list[Aside] = []
        self._numbers = range(0)
        self._seen: dict[str, int] = {}
        self._times: dict[str, int] = {}  # calls of one function with the same plain data, in this test
        self._left: dict[str, int] = {}
        self._test = ""
        self._busy = False
        self.in_time = True

    def rounds(self, items: "list[Any]") -> "Iterator[list[Any]]":
        """Yield the issue's own tests, then the others twice: for the first copies of each call, and for the rest."""
        setattr(builtins, HOOK, self.on_call)
        wanted = [item for item in items if item.nodeid in self._tests]
        own, others = running.own_and_others(wanted, self._job.get("own") or ())
        most, most_of_own = int(self._job["mutants"]) + 1, int(self._job.get("own_mutants") or self._job["mutants"]) + 1
        for batch, numbers in (
            (own, range(most_of_own)),
            (others, range(min(FIRST, most))),
            (others, range(min(FIRST, most), most)),
        ):
            self._numbers = numbers
            self._seen, self._left = {}, {each.name: int(self._job["calls_cap"]) for each in self._functions}
            yield [item for item in batch if self._mark(item) not in self._finished]

    def _mark(self, item: Any) -> str:
        return str(item.nodeid) + "|" + str(self._numbers.start)

    def before(self, item: Any) -> None:
        """Let the functions' code stand aside."""
        self._test, self._times = item.nodeid, {}
        self._channel.start(self._mark(item))
        for function in self._functions:
            for which, held in enumerate(_held(function)):
                self._aside.append(Aside(function, which, held))
                self._aside[-1].stand(len(self._aside) - 1)

    def after(self, item: Any) -> None:
        """Put the functions' code back."""
        for aside in reversed(self._aside):
            aside.go_back()
        self._aside = []
        self._channel.stop(self._mark(item))

    def over(self) -> bool:
        """Return whether the budget is spent."""
        self.in_time = not self._deadline.over()
        return not self.in_time

    def on_call(self, number: int, args: Any, kwargs: Any) -> Any:
        """Make a call as a test makes it, after its copies have been made in children."""
        aside = self._aside[number]
        if not self._busy:
            self._busy = True
            try:
                aside.calls += 1
                self._look(aside, (args, kwargs))
            finally:
                self._busy = False
        return aside.made(*args, **kwargs)

    def _look(self, aside: Aside, arguments: Any) -> None:
        function = aside.function
        leaves = [leaf for leaf in calls.leaves_of(arguments) if redo.is_near(leaf)]
        if not leaves or self.over():
            return
        shape = function.name + "|" + repr([(leaf["path"], leaf["value"]) for leaf in leaves])
        self._times[shape] = self._times.get(shape, 0) + 1
        digest = hashlib.sha256((shape + str(self._times[shape])).encode("utf-8", "replace")).hexdigest()[:16]
        name = self._test + "|" + function.name + "#" + digest
        if not (name in self._names if self._only else self._is_new(function, shape)):
            return
        copies = redo.changes_of(name, leaves, self._numbers.stop, redo.material_of(self._job))
        numbers = self._numbers[: max(0, len(copies) - self._numbers.start)]
        wanted = [copy for copy in numbers if not self._wanted or name + "|m" + str(copy) in self._wanted]
        made_again = [functools.partial(self._in_child, aside.made, arguments, copies[copy]) for copy in wanted]
        limit = float(self._job.get("limit") or 2.0)
        together = 1 if self._only and not self._job.get("together") else max(1, len(wanted))
        for first in range(0, len(wanted), together):
            seen = redo.in_children(made_again[first : first + together], limit)
            for each, copy in zip(seen, wanted[first:]):  # noqa: B905 - not before Python 3.10
                self._send(aside, name + "|m" + str(copy), copies[copy], each)

    def _is_new(self, function: CalledFunction, shape: str) -> bool:
        """Return whether a call is worth its copies: there is room for the function, and few calls were like it."""
        alike = self._seen[shape] = self._seen.get(shape, 0) + 1
        if alike > ALIKE or self._left[function.name] <= 0:
            return False
        self._left[function.name] -= 1
        return True

    def _send(self, aside: Aside, probe: str, changes: "list[redo.LeafChange]", seen: "wire.Line") -> None:
        for part in redo.PARTS:
            key = probe + "|" + part
            if part not in seen or (self._only and key not in self._only):
                continue
            literal = _redo(self._test, aside, part, changes)
            self._channel.send(redo.line(key, self._test, seen, changes, aside.function.private, literal))

    def _in_child(self, made: Any, arguments: Any, changes: "list[redo.LeafChange]") -> "wire.Line":
        arguments = (arguments[0], dict(arguments[1]))
        for change in changes:
            arguments = calls.replaced(arguments, change.path, values.read_literal(change.new))
        seen = redo.call(self._reach, made, arguments)
        given = [each for each in [*arguments[0], *arguments[1].values()] if type(each).__module__ == "builtins"]
        return dict(seen, arguments=["value", "", texts.describe(given)])


def _redo(test: str, aside: Aside, part: str, changes: "list[redo.LeafChange]") -> "dict[str, object]":
    """Return what a person needs to make a call again by hand: in which test, which call, and what is changed."""
    return {
        "test": test,
        "module": aside.function.module,
        "qualname": aside.function.qualname,
        "which": aside.which,
        "number": aside.calls,
        "part": part,
        "mutations": [{"path": each.path, "old": each.old, "new": each.new} for each in changes],
    }


def _held(function: CalledFunction) -> "list[FunctionType]":
    """Return the functions that a name leads to on this side and whose code can stand aside."""
    try:
        found = list(lookup.functions_at(function.module, function.qualname))
    except Exception:  # importing what only another side has may raise anything
        return []
    return [each for each in found if not each.__code__.co_freevars]


def run(job: wire.Line, out: "IO[str]") -> str:
    """Do a job; return how it ended."""
    deadline = wire.WorkBudget(float(job["budget"]))

    def work(channel: "wire.WorkerPipe", finished: "set[str]") -> str:
        running.prepare(job.get("before"))
        driver = InPlaceReplay(dict(job, budget=deadline.left()), channel, finished)
        running.run_tests(driver, running.files_of(job), job.get("runner") or "pytest")
        return wire.DONE if driver.in_time else wire.BUDGET

    return wire.watch(work, out, deadline.left(), PATIENCE)
