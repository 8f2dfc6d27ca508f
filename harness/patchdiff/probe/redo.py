"""Make a call again with other arguments, in child processes that may hang or die, and observe it."""

import functools
import gc
import math
import random
import resource
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from . import texts, trace, values, wire

MEMORY = 4 << 30  # bytes of address space for one child
WEIGHT, LONG = 8, 80  # of any place in the choice of one, and what is added at most for a text
SPLICED = 0.5  # share of changed strings that have pieces of others
NEAR = 0.7  # share of changes in what a call is given itself, where it is given objects as well
CROSSED = 0.25  # share of changes that take what another call of the function was given
SECOND = 0.3  # share of changed calls with two changes
PARTS = ("return", "arguments", "stdout")


class LeafChange(NamedTuple):
    """Another value at a place inside the arguments."""

    path: "list[Any]"
    old: str
    new: str


class ChangeMaterial(NamedTuple):
    seed: int
    donors: "Sequence[str]"  # strings that pieces are taken from
    words: "Sequence[str]"  # texts that the change of the project itself is about
    beside: "Mapping[str, Iterable[str]]"  # literals that calls of the function have, by their place


def choose_changes(
    name: str, leaves: "Sequence[wire.Line]", count: int, material: ChangeMaterial
) -> "Iterator[list[LeafChange]]":
    """Yield the changes of each copy of a call, at most `count`; the first copy is unchanged.

    The choice depends on the name and the seed. The leaves, which may be changed, have ``path`` and ``value``.
    """
    choice = random.Random(str(material.seed) + name)
    near = [leaf for leaf in leaves if all(step[0] != "attribute" for step in leaf["path"])]  # not inside of objects
    seen = {"[]"}
    yield []
    for _ in range(count * 6 if leaves else 0):
        first, second = (_change(_leaf(near, leaves, choice), choice, material) for _ in range(2))
        twice = choice.random() < SECOND and _apart(first, second)
        kept = [each for each in (first, second if twice else None) if each is not None]
        if len(seen) > count:
            return
        if str(kept) not in seen:
            seen.add(str(kept))
            yield kept


def _leaf(near: "Sequence[wire.Line]", leaves: "Sequence[wire.Line]", choice: random.Random) -> "wire.Line":
    """Choose a place; long texts more often, since there is more in them to change."""
    among = near if near and choice.random() < NEAR else leaves
    weights = [WEIGHT + (min(len(leaf["value"]), LONG) if leaf["value"][:1] in "'\"" else 0) for leaf in among]
    return choice.choices(among, weights)[0]


def _apart(first: "LeafChange | None", second: "LeafChange | None") -> bool:
    """Return whether neither of two changes is inside the other."""
    return bool(first and second and first.path[: len(second.path)] != second.path[: len(first.path)])


def _change(leaf: "wire.Line", choice: random.Random, material: ChangeMaterial) -> "LeafChange | None":
    beside = [each for each in material.beside.get(str(leaf["path"]), ()) if each != leaf["value"]]
    if leaf["value"] == "None":  # a value that was not given: of no known type
        everywhere = [each for known in material.beside.values() for each in known if each != "None"]
        beside += [text for each in everywhere for text in (each, "[" + each + "]")]
    if beside and choice.random() < CROSSED:
        return LeafChange(leaf["path"], leaf["value"], choice.choice(beside))
    value = values.read_literal(leaf["value"])
    others = []
    if isinstance(value, (str, bytes)) and choice.random() < SPLICED:
        others = values.splice(value, material.donors, material.words, choice)
    others = others or [*values.others(value, choice), *values.borders(value, material.words)]
    news = [text for text in map(values.literal, others) if text and text != leaf["value"]]
    return LeafChange(leaf["path"], leaf["value"], choice.choice(news)) if news else None


def call(reach: "trace.TargetWatch", function: Any, arguments: Any) -> "wire.Line":
    """Call a function; return its observations, by part, and the target that ran."""
    reach.begin()
    seen = texts.observe(function, arguments, reach.end)
    return dict(seen, target=reach.found)


def run_in_children(calls: "Sequence[Callable[[], wire.Line]]", limit: float) -> "Iterator[wire.Line]":
    """Make calls in a child process, one after the other, and yield their observations.

    A call that takes longer than `limit` seconds, or ends the child, is seen as "timeout" or "died", and another child
    continues after it.
    """
    done = 0
    while done < len(calls):
        for seen in _run_in_child(calls[done:], limit):
            done += 1
            yield seen


def _run_in_child(calls: "Sequence[Callable[[], wire.Line]]", limit: float) -> "Iterator[wire.Line]":
    """Yield observations up to and including the first fatal call."""
    getattr(gc, "freeze", int)()  # a collection in the child would have the kernel copy all that it looks at
    worker, answered = wire.Worker(functools.partial(_make, calls)), 0
    deadline = wire.WorkBudget(limit, math.inf)
    try:
        while answered < len(calls):
            lines = worker.lines(deadline.remaining())
            yield from lines
            answered += len(lines)
            if lines:
                deadline.restart(limit)
            elif deadline.is_spent():
                yield {"return": ["timeout", "", ""]}
                return
    except EOFError:
        yield {"return": ["died", "", ""]}
    finally:
        worker.end()


def _make(calls: "Sequence[Callable[[], wire.Line]]", channel: wire.WorkerPipe) -> None:
    if len(calls) == 1:
        gc.disable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for make in calls:
        try:
            channel.send(make())
        except BaseException as problem:  # there is no such function on this side, or not with such arguments
            channel.send({"return": ["missing", texts.type_name(problem), ""]})
