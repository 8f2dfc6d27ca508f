"""Calls functions with recorded arguments and changed ones, each call in its own process, and observes the outcome.

Runs inside a container, on one side of a comparison, outside any test runner: what behaves well under pytest alone
shows. Input: ``calls`` (lines of `record`), ``literal_calls`` (``module``, ``qualname``, ``args``: a literal of
(positional, by keyword)), ``targets``, ``seed``, ``mutants`` (changed copies of each call), ``limit`` (seconds for a
call), ``budget``, ``only`` (keys, or null for all), and optionally ``words`` (texts that the change itself is about).
Each line of output is one observation: of what a call returns or raises, of its arguments afterwards, of what it
prints. Changes are chosen from the recorded data alone, never from the code on this side.
"""

import base64
import hashlib
import importlib
import io
import json
import os
import pickle
import random
import resource
import select
import signal
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.harness.differential.programs import _shared_calls as calls
    from assay.harness.differential.programs import _shared_text as texts
    from assay.harness.differential.programs import _shared_trace as trace
    from assay.harness.differential.programs import _shared_values as values
    from assay.harness.differential.programs import _shared_wire as wire
else:
    import _shared_calls as calls
    import _shared_text as texts
    import _shared_trace as trace
    import _shared_values as values
    import _shared_wire as wire

MEMORY = 4 << 30  # bytes of address space for one call
WORDS = 3  # words of the change that a text may become
SECOND = 0.3  # share of changed calls with two changes
PARTS = ("return", "arguments", "stdout")
MISSING = "missing"


class Call(NamedTuple):
    """One call, recorded or told in a literal."""

    module: str
    qualname: str
    parameters: "list[str] | None"  # None: whatever the function takes
    pickled: str  # base64; "" for a call that is told in a literal
    literal: str  # "" for a call that is not plain data
    leaves: "list[dict[str, Any]]"
    digest: str
    test: str
    private: bool

    @property
    def name(self) -> str:
        """What the keys of its observations begin with."""
        return self.module + ":" + self.qualname + "|" + self.digest

    def arguments(self) -> Any:
        """Return fresh arguments, (positional, by keyword); raises what unpickling raises."""
        if self.literal:
            return values.read_literal(self.literal)
        return pickle.loads(base64.b64decode(self.pickled))


class Change(NamedTuple):
    """Another value at a place inside the arguments."""

    path: "list[Any]"
    old: str
    new: str


def read_calls(job: "wire.Line") -> "list[Call]":
    """Return the calls of a job."""
    found = [
        Call(
            row["module"],
            row["qualname"],
            row["parameters"],
            row["args"],
            row.get("literal") or "",
            row["leaves"],
            row["digest"],
            row.get("test") or "",
            bool(row.get("private")),
        )
        for row in job.get("calls") or ()
    ]
    for row in job.get("literal_calls") or ():
        arguments = values.read_literal(row["args"])
        digest = hashlib.sha256(row["args"].encode("utf-8")).hexdigest()[:16]
        leaves = calls.leaves_of(arguments)
        found.append(Call(row["module"], row["qualname"], None, "", row["args"], leaves, digest, "", False))
    return found


def changes_of(call: Call, seed: int, count: int, words: "Sequence[str]" = ()) -> "list[list[Change]]":
    """Return the changes of each copy of a call; the first copy is unchanged."""
    choice = random.Random(str(seed) + call.name)
    found, seen = [[]], set()  # type: list[list[Change]], set[str]
    for _ in range(count * 6 if call.leaves else 0):
        if len(found) > count:
            break
        first, second = _change(call, choice, words), _change(call, choice, words)
        twice = choice.random() < SECOND and _apart(first, second)
        kept = [each for each in (first, second if twice else None) if each is not None]
        if kept and str(kept) not in seen:
            seen.add(str(kept))
            found.append(kept)
    return found


def _apart(first: "Change | None", second: "Change | None") -> bool:
    """Tell whether neither of two changes lies inside the other."""
    return bool(first and second and first.path[: len(second.path)] != second.path[: len(first.path)])


def _change(call: Call, choice: random.Random, words: "Sequence[str]") -> "Change | None":
    leaf = choice.choice(call.leaves)
    value = values.read_literal(leaf["value"])
    others = values.others(value, choice)
    if isinstance(value, str):
        others += choice.sample(words, min(WORDS, len(words)))
    news = [text for text in map(values.literal, others) if text and text != leaf["value"]]
    return Change(leaf["path"], leaf["value"], choice.choice(news)) if news else None


class Replay:
    """Runs the calls of a job on this side."""

    def __init__(self, job: "wire.Line", out: Any) -> None:
        self._job = job
        self._out = out
        self._only = frozenset(job.get("only") or ())
        self._probes = frozenset(key.rpartition("|")[0] for key in self._only)
        self._limit = float(job.get("limit") or 2.0)
        self._reach = trace.Reach(trace.read_targets(job["targets"]))
        self._deadline = wire.Deadline(float(job["budget"]))

    def run(self) -> str:
        """Run everything: all calls as they were, then all first copies, and so on; return how it ended."""
        for number, call, changes in self._planned():
            if self._deadline.over():
                return wire.BUDGET
            self._probe(call, number, changes)
        return wire.DONE

    def _planned(self) -> "Iterator[tuple[int, Call, list[Change]]]":
        seed, count = int(self._job["seed"]), int(self._job["mutants"])
        words = self._job.get("words") or ()
        planned = [
            (number, call, changes)
            for call in read_calls(self._job)
            for number, changes in enumerate(changes_of(call, seed, count, words))
        ]
        for number, call, changes in sorted(planned, key=lambda each: each[0]):
            if not self._only or call.name + "|m" + str(number) in self._probes:
                yield number, call, changes

    def _probe(self, call: Call, number: int, changes: "list[Change]") -> None:
        function, why = resolve(call)
        seen = {"return": [MISSING, why, ""]} if function is None else self._forked(call, function, changes)
        for part in PARTS:
            key = call.name + "|m" + str(number) + "|" + part
            if part in seen and (not self._only or key in self._only):
                wire.write_line(self._out, self._line(call, key, seen, part, changes))

    def _line(self, call: Call, key: str, seen: "wire.Line", part: str, changes: "list[Change]") -> "wire.Line":
        kind, type_, text = seen[part]
        return {
            "key": key,
            "test": call.test,
            "mutated": bool(changes),
            "target": seen.get("target", ""),
            "reached": bool(seen.get("target")),
            "kind": kind,
            "type": type_,
            "text": text,
            "private": call.private,
            "plain": bool(call.literal),
            "literal": _redo(call, part, changes),
        }

    def _forked(self, call: Call, function: Any, changes: "list[Change]") -> "wire.Line":
        """Run a call in a child and return what it saw, by part, and the target that ran."""
        reading, writing = os.pipe()
        pid = os.fork()
        if not pid:
            try:
                os.close(reading)
                self._child(call, function, changes, writing)
            finally:
                os._exit(0)
        os.close(writing)
        answer, in_time = _answer(reading, self._limit)
        os.close(reading)
        _end(pid)
        if answer:
            return json.loads(answer)
        return {"return": ["died" if in_time else "timeout", "", ""]}

    def _child(self, call: Call, function: Any, changes: "list[Change]", writing: int) -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        try:
            arguments = call.arguments()
            for change in changes:
                arguments = calls.replaced(arguments, change.path, values.read_literal(change.new))
        except Exception as problem:
            seen: wire.Line = {"return": [MISSING, texts.type_name(problem), ""]}
        else:
            seen = self._call(function, arguments)
        data = json.dumps(seen).encode("ascii")
        while data:
            data = data[os.write(writing, data) :]

    def _call(self, function: Any, arguments: Any) -> "wire.Line":
        printed, usual = io.StringIO(), sys.stdout
        sys.stdout = printed
        self._reach.begin()
        try:
            result = function(*arguments[0], **arguments[1])
            outcome = ["value", texts.type_name(result), texts.describe(result)]
        except BaseException as error:
            outcome = ["error", texts.type_name(error), ""]
        self._reach.end()
        sys.stdout = usual
        return {
            "return": outcome,
            "arguments": ["value", "", texts.describe(arguments, inside=True)],
            "stdout": ["value", "", texts.settle(printed.getvalue())],
            "target": self._reach.found,
        }


def resolve(call: Call) -> "tuple[Any, str]":
    """Return a call's function on this side, or None and why it is none or not comparable."""
    try:
        found = list(calls.functions_at(call.module, call.qualname))
    except BaseException as problem:
        return None, texts.type_name(problem)
    if call.parameters is None:
        held: Any = importlib.import_module(call.module)
        for part in call.qualname.split("."):
            held = getattr(held, part)
        return (held, "") if callable(held) else (None, "NotCallable")
    for function in found:
        if calls.parameters_of(function.__code__) == call.parameters:
            return function, ""
    return None, "OtherParameters"


def _answer(reading: int, limit: float) -> "tuple[str, bool]":
    """Return all that a child says, and whether it ended in time."""
    deadline, data = wire.Deadline(limit), b""
    while not deadline.over():
        ready, _, _ = select.select([reading], [], [], max(0.0, deadline.left()))
        if ready:
            more = os.read(reading, 1 << 16)
            if not more:
                return data.decode("ascii"), True
            data += more
    return "", False


def _end(pid: int) -> None:
    for end in (os.killpg, os.kill):
        try:
            end(pid, signal.SIGKILL)
        except OSError:
            continue
    os.waitpid(pid, 0)


def _redo(call: Call, part: str, changes: "list[Change]") -> "dict[str, object]":
    """Return what a person needs to make a call again by hand: its source where it is plain data, else the pickle."""
    told: dict[str, object] = {
        "module": call.module,
        "qualname": call.qualname,
        "part": part,
        "mutations": [{"path": each.path, "old": each.old, "new": each.new} for each in changes],
        "call": "",
        "arguments": "",
        "args": call.pickled,
    }
    if call.literal:
        arguments = call.arguments()
        for change in changes:
            arguments = calls.replaced(arguments, change.path, values.read_literal(change.new))
        told["call"] = _source(call.qualname, arguments)
        told["arguments"] = values.literal(arguments)
        told["args"] = ""
    return told


def _source(name: str, arguments: Any) -> str:
    texts_ = [values.literal(each) for each in arguments[0]]
    texts_ += [key + "=" + values.literal(each) for key, each in arguments[1].items()]
    return name + "(" + ", ".join(texts_) + ")"


def main() -> None:
    """Do the job that the first argument names, into the file that the second names."""
    job = wire.read_job()
    wire.use_project()
    with wire.open_output() as out:
        end = Replay(job, out).run()
        wire.write_line(out, {"end": end})


if __name__ == "__main__":
    main()
