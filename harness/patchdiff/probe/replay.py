"""Calls functions with recorded arguments and changed ones, in processes of their own, and observes the outcome.

Runs outside any test runner, so that code that behaves well under pytest alone shows; but where ``command`` starts a
runner without which the project is not set up, inside that, in place of the tests. Input: ``calls`` (lines of
`record`), ``targets``, ``seed``, ``mutants`` (changed copies of each call), ``limit`` (seconds for a call), ``budget``,
``only`` (keys, or null for all; each is made in a child of its own, unless ``together``), and optionally ``words``
(texts that the change is about) and ``donors`` (strings that pieces are taken from). Each line of output is one
observation: of what a call returns or raises, of its arguments afterwards, of what it prints. Changes are chosen from
the recorded data alone, never from the code on this side.
"""

import base64
import functools
import heapq
import itertools
import pickle
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from . import calls, hosting, redo, running, trace, values, wire

TOGETHER = 200  # calls made in one child where all are; those asked for by name are each alone


class RecordedCall(NamedTuple):
    module: str
    qualname: str
    parameters: "list[str]"
    args: str  # base64 of the pickle
    leaves: "list[dict[str, Any]]"
    digest: str
    literal: str = ""  # of a call that is plain data
    test: str = ""
    private: bool = False
    weight: int = 1  # this many times as many copies as others

    @property
    def function(self) -> str:
        return self.module + ":" + self.qualname

    @property
    def name(self) -> str:
        """The beginning of its observations' keys."""
        return self.function + "|" + self.digest

    def arguments(self, changes: "list[redo.LeafChange]") -> Any:
        """Return fresh arguments, (positional, by keyword), with changes; raises what reading and changing raise."""
        found = values.read_literal(self.literal) if self.literal else pickle.loads(base64.b64decode(self.args))
        for change in changes:
            found = calls.replace_leaf(found, change.path, values.read_literal(change.new))
        return found


class CallReplay:
    """Runs the calls of a job on this side."""

    def __init__(self, job: "wire.Line", send: "Callable[[wire.Line], None]") -> None:
        self._job = job
        self._send = send
        self._only = frozenset(job.get("only") or ())
        self._probes = frozenset(key.rpartition("|")[0] for key in self._only)
        self._last: dict[str, int] = {}  # the last copy wanted, by its call
        for name, _, number in (probe.rpartition("|m") for probe in self._probes):
            self._last[name] = max(int(number), self._last.get(name, 0))
        self._limit = float(job["limit"])
        self._reach = trace.TargetWatch(job["targets"])
        self._deadline = wire.WorkBudget(float(job["budget"]))

    def run(self) -> str:
        """Run all calls as they were, then all first copies, and so on; return how it ended."""
        planned, together = self._plan(), 1 if self._only and not self._job.get("together") else TOGETHER
        batch = list(itertools.islice(planned, together))
        while batch and not self._deadline.is_spent():
            self._look(batch)
            batch = list(itertools.islice(planned, together))
        return wire.BUDGET if batch else wire.DONE

    def _plan(self) -> "Iterator[tuple[int, RecordedCall, list[redo.LeafChange]]]":
        job, fields = self._job, RecordedCall._fields
        recorded = [RecordedCall(**{name: row[name] for name in row if name in fields}) for row in job["calls"]]
        material = redo.ChangeMaterial(int(job["seed"]), job.get("donors") or (), job.get("words") or (), {})
        beside: dict[str, dict[str, dict[str, None]]] = {}
        for call in recorded:
            for leaf in call.leaves:
                beside.setdefault(call.function, {}).setdefault(str(leaf["path"]), {})[leaf["value"]] = None
        of_each = [
            self._copies(at, call, material._replace(beside=beside.get(call.function, {})))
            for at, call in enumerate(recorded)
            if not self._only or call.name in self._last
        ]
        for _, _, number, call, changes in heapq.merge(*of_each):
            if not self._only or call.name + "|m" + str(number) in self._probes:
                yield number, call, changes

    def _copies(
        self, at: int, call: RecordedCall, material: redo.ChangeMaterial
    ) -> "Iterator[tuple[float, int, int, RecordedCall, list[redo.LeafChange]]]":
        """Yield a call's copies, each with its place among all."""
        count = self._last.get(call.name, int(self._job["mutants"]) * call.weight)
        for number, changes in enumerate(redo.choose_changes(call.name, call.leaves, count, material)):
            yield number / call.weight, at, number, call, changes

    def _look(self, planned: "list[tuple[int, RecordedCall, list[redo.LeafChange]]]") -> None:
        made = [functools.partial(self._call, call, changes) for _, call, changes in planned]
        for seen, (number, call, changes) in zip(redo.run_in_children(made, self._limit), planned):  # noqa: B905
            for part in redo.PARTS:
                key = call.name + "|m" + str(number) + "|" + part
                if part in seen and (not self._only or key in self._only):
                    what = key, call.test, seen[part], seen.get("target", ""), bool(changes)
                    redone = _redo(call, part, changes)
                    self._send(wire.observation(*what, of=call.function, private=call.private, literal=redone))

    def _call(self, call: RecordedCall, changes: "list[redo.LeafChange]") -> "wire.Line":
        return redo.call(self._reach, resolve(call), call.arguments(changes))


def resolve(call: RecordedCall) -> Any:
    """Return a call's function on this side; raises LookupError for other parameters, and as ``find_functions``."""
    for function in calls.find_functions(call.module, call.qualname):
        if calls.get_parameters(function.__code__) == call.parameters:
            return function
    raise LookupError(call.qualname)


def _redo(call: RecordedCall, part: str, changes: "list[redo.LeafChange]") -> "dict[str, object]":
    """Return how to make a call again by hand: from a literal if its arguments are plain data, else from the pickle."""
    return {
        "module": call.module,
        "qualname": call.qualname,
        "part": part,
        "mutations": changes,
        "arguments": values.literal(call.arguments(changes)) if call.literal else "",
        "args": "" if call.literal or changes else call.args,
    }


class _AmongTests(running.Driver):
    """Makes the calls where a runner has set up what they may need, in place of its tests."""

    ended = wire.DONE

    def ready(self) -> None:
        super().ready()
        self.ended = CallReplay(self.job, self.channel.send).run()

    def rounds(self, items: "list[Any]") -> "Iterator[list[Any]]":  # noqa: ARG002
        return iter(())

    def end(self) -> str:
        return self.ended


make_driver = _AmongTests


def run(job: wire.Line, send: "Callable[[wire.Line], None]") -> str:
    return hosting.watch("replay", job, send) if job.get("command") else CallReplay(job, send).run()
