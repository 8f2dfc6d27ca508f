"""Make a call again with other arguments, in child processes that may hang or die, and observe it."""

import gc
import io
import json
import math
import os
import random
import resource
import select
import signal
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from . import texts, trace, values, wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

MEMORY = 4 << 30  # bytes of address space for one child
WEIGHT, LONG = 8, 80  # of any place in the choice of one, and what is added at most for a text
SPLICED = 0.5  # share of changed strings that have pieces of others
NEAR = 0.7  # share of changes in what a call is given itself, where it is given objects as well
SECOND = 0.3  # share of changed calls with two changes
PARTS = ("return", "arguments", "stdout")
MISSING = "missing"


class LeafChange(NamedTuple):
    """Another value at a place inside the arguments."""

    path: "list[Any]"
    old: str
    new: str


class ChangeMaterial(NamedTuple):
    """The material of changes."""

    seed: int
    donors: "Sequence[str]"  # strings that pieces are taken from
    words: "Sequence[str]"  # texts that the change of the project itself is about


def changes_of(
    name: str, leaves: "Sequence[wire.Line]", count: int, material: ChangeMaterial
) -> "list[list[LeafChange]]":
    """Return the changes of each copy of a call; the first copy is unchanged.

    Args:
        name: of the call; the choice hangs on it and on the seed.
        leaves: the places that may be changed, ``path`` and ``value``.
        count: changed copies, at most.
        material: what changes are made of.
    """
    choice = random.Random(str(material.seed) + name)
    near = [leaf for leaf in leaves if is_near(leaf)]
    found, seen = [[]], set()  # type: list[list[LeafChange]], set[str]
    for _ in range(count * 6 if leaves else 0):
        if len(found) > count:
            break
        first, second = (_change(_leaf(near, leaves, choice), choice, material) for _ in range(2))
        twice = choice.random() < SECOND and _apart(first, second)
        kept = [each for each in (first, second if twice else None) if each is not None]
        if kept and str(kept) not in seen:
            seen.add(str(kept))
            found.append(kept)
    return found


def is_near(leaf: "wire.Line") -> bool:
    """Return whether a place is in what a call is given, and not in an object that it is given."""
    return all(step[0] != "attribute" for step in leaf["path"])


def _leaf(near: "Sequence[wire.Line]", leaves: "Sequence[wire.Line]", choice: random.Random) -> "wire.Line":
    """Choose a place; long texts more often than short ones, since there is more in them to change."""
    among = near if near and choice.random() < NEAR else leaves
    weights = [WEIGHT + (min(len(leaf["value"]), LONG) if leaf["value"][:1] in "'\"" else 0) for leaf in among]
    at, weight = choice.randrange(sum(weights)), 0
    for leaf, own in zip(among, weights):  # noqa: B905 - not before Python 3.10
        weight += own
        if at < weight:
            return leaf
    return among[-1]


def material_of(job: "wire.Line") -> ChangeMaterial:
    """Return what a job gives to make changes of; it is the same on every side of a comparison."""
    return ChangeMaterial(int(job["seed"]), job.get("donors") or (), job.get("words") or ())


def _apart(first: "LeafChange | None", second: "LeafChange | None") -> bool:
    """Return whether neither of two changes is inside the other."""
    return bool(first and second and first.path[: len(second.path)] != second.path[: len(first.path)])


def _change(leaf: "wire.Line", choice: random.Random, material: ChangeMaterial) -> "LeafChange | None":
    value = values.read_literal(leaf["value"])
    others = []
    if isinstance(value, (str, bytes)) and choice.random() < SPLICED:
        others = values.spliced(value, material.donors, material.words, choice)
    others = others or [*values.others(value, choice), *values.borders(value, material.words)]
    news = [text for text in map(values.literal, others) if text and text != leaf["value"]]
    return LeafChange(leaf["path"], leaf["value"], choice.choice(news)) if news else None


def call(reach: "trace.Reach", function: Any, arguments: Any) -> "wire.Line":
    """Call a function and return what is seen, by part, and the target that ran."""
    printed, usual = io.StringIO(), sys.stdout
    sys.stdout = printed
    reach.begin()
    try:
        result = function(*arguments[0], **arguments[1])
        outcome = ["value", texts.type_name(result), texts.describe(result)]
    except BaseException as error:
        outcome = ["error", texts.type_name(error), ""]
    reach.end()
    sys.stdout = usual
    return {
        "return": outcome,
        "arguments": ["value", "", texts.describe(arguments, inside=True)],
        "stdout": ["value", "", texts.settle(printed.getvalue())],
        "target": reach.found,
    }


def line(
    key: str, test: str, seen: "wire.Line", changes: "list[LeafChange]", private: bool, literal: "wire.Line"
) -> "wire.Line":
    """Return the observation of one part of a call.

    Args:
        key: of the observation; its end names the part.
        test: in which the call was made.
        seen: what was seen of the call.
        changes: that were made to its arguments.
        private: whether the function is private to the project.
        literal: what a person needs to make the call again by hand; ``module`` and ``qualname`` name the function.
    """
    kind, type_, text = seen[key.rpartition("|")[2]]
    return {
        "key": key,
        "test": test,
        "of": literal["module"] + ":" + literal["qualname"],
        "mutated": bool(changes),
        "target": seen.get("target", ""),
        "reached": bool(seen.get("target")),
        "kind": kind,
        "type": type_,
        "text": text,
        "private": private,
        "literal": literal,
    }


def missing(why: str) -> "wire.Line":
    """Return what is seen of a call that cannot be made on this side."""
    return {"return": [MISSING, why, ""]}


def in_children(calls: "Sequence[Callable[[], wire.Line]]", limit: float) -> "Iterator[wire.Line]":
    """Make calls in a child process, one after the other, and yield what each has seen.

    A call that takes longer than `limit` seconds, or takes the child along, is seen as "timeout" or "died", and another
    child continues after it.
    """
    done = 0
    while done < len(calls):
        for seen in _in_child(calls[done:], limit):
            done += 1
            yield seen


def _in_child(calls: "Sequence[Callable[[], wire.Line]]", limit: float) -> "Iterator[wire.Line]":
    """Yield what calls see until one is fatal, that one included."""
    reading, writing = os.pipe()
    getattr(gc, "freeze", int)()  # a collection in the child would have the kernel copy all that it looks at
    pid = os.fork()
    if not pid:
        try:
            os.close(reading)
            _be_child(calls, writing)
        finally:
            os._exit(0)
    os.close(writing)
    answers = _Answers(reading)
    try:
        for _ in calls:
            answer, why = answers.following(limit)
            yield json.loads(answer) if answer else {"return": [why, "", ""]}
            if not answer:
                return
    finally:
        os.close(reading)
        _end(pid)


def _be_child(calls: "Sequence[Callable[[], wire.Line]]", writing: int) -> None:
    if len(calls) == 1:
        gc.disable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    for make in calls:
        try:
            seen = make()
        except Exception as problem:
            seen = missing(texts.type_name(problem))
        data = (json.dumps(seen) + "\n").encode("ascii")
        while data:
            data = data[os.write(writing, data) :]


class _Answers:
    """The lines that a child writes."""

    def __init__(self, reading: int) -> None:
        self._reading = reading
        self._data = b""

    def following(self, limit: float) -> "tuple[str, str]":
        """Return the next line, or "" and whether the child was out of time or has died."""
        deadline = wire.WorkBudget(limit, math.inf)
        while b"\n" not in self._data:
            if deadline.over():
                return "", "timeout"
            ready, _, _ = select.select([self._reading], [], [], max(0.0, deadline.left()))
            if ready:
                more = os.read(self._reading, 1 << 16)
                if not more:
                    return "", "died"
                self._data += more
        line, _, self._data = self._data.partition(b"\n")
        return line.decode("ascii"), ""


def _end(pid: int) -> None:
    for end in (os.killpg, os.kill):
        try:
            end(pid, signal.SIGKILL)
        except OSError:
            continue
    os.waitpid(pid, 0)
