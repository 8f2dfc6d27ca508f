"""Gives the cards of this machine to containers: each to one at a time, in this process and in others of its user."""

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from assay.harness.domain import Card
from assay.harness.engines.cdi import CdiDevice
from assay.harness.errors import EngineError, EnvironmentFailure, RunStopped
from assay.harness.files import try_lock
from assay.harness.names import count

if TYPE_CHECKING:
    from assay.harness.engines.base import Box, Engine

SETTLE = 10.0  # seconds that processes of a container that was killed may take to leave a card
LOOK = 0.5  # seconds between two looks at cards that other processes hold
TOO_FEW = "its tests need {}, and this run can give {} (assay doctor says why)"
LEFT_ON_CARD = "process_left_on_card"
"""Flag of tests that ended while a process, theirs or another's, still used their card."""


@dataclass(frozen=True, slots=True)
class HostCard:
    """A card of this machine, and how a container gets it."""

    card: Card
    nodes: tuple[str, ...] = ()
    """Paths of device nodes that are this card's alone."""
    device: CdiDevice | None = None
    """What its CDI spec says; None if there is none."""
    is_nvidia: bool = False
    """Whether NVIDIA's own programs know it."""


@dataclass(frozen=True, slots=True)
class CardWatch:
    """What can be seen of a card from outside of containers; tests put their own in its place."""

    find_users: Callable[[HostCard, float], Sequence[str]]
    """Names the processes that use a card, each with its number, and still do after some seconds."""
    find_fault: Callable[[HostCard], str]
    """Says why a card can no longer be used; empty if it can."""


class CardPool:
    """The cards that one run may give away; safe in several threads."""

    def __init__(self, find: Callable[[], Sequence[HostCard]], watch: CardWatch, locks: Path) -> None:
        """Look for cards at first use; a lock file for each in ``locks`` keeps it from this user's other processes."""
        self._find, self._locks = find, locks
        self.watch = watch
        self._changed = threading.Condition()
        self._waiting: deque[object] = deque()
        self._held: dict[str, IO[str]] = {}
        self._doubtful: set[str] = set()
        """Cards with which something was wrong when they were last looked at; others are given first."""
        self._ended = False

    @cached_property
    def cards(self) -> tuple[HostCard, ...]:
        with self._changed:
            return tuple(self._find())

    def check(self, wanted: int) -> None:
        """Raise EnvironmentFailure for more cards than there are."""
        if wanted > len(self.cards):
            raise EnvironmentFailure(TOO_FEW.format(count(wanted, "GPU"), len(self.cards)))

    @contextmanager
    def hold(self, wanted: int, is_stopped: Callable[[], bool] = lambda: False) -> Iterator[tuple[HostCard, ...]]:
        """Wait for cards, first come first served, and keep them until the block ends.

        Raises:
            EnvironmentFailure: there are not as many.
            EngineError: a card failed, or somebody else used it, before the block or at its end.
            RunStopped: it was stopped while it waited.
        """
        self.check(wanted)
        taken = self._take(wanted, is_stopped)
        try:
            self._inspect(taken, "before the tests")
            yield taken
            self._inspect(taken, "after the container was removed")
        finally:
            self._give_back(taken)

    def end(self) -> None:
        """Let nobody wait any more."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def find_left(self, cards: Sequence[HostCard]) -> list[str]:
        """Name the processes that use some cards now."""
        return [user for each in cards for user in self.watch.find_users(each, 0.0)]

    def _take(self, wanted: int, is_stopped: Callable[[], bool]) -> tuple[HostCard, ...]:
        turn = object()
        with self._changed:
            self._waiting.append(turn)
            try:
                while not (self._waiting[0] is turn and (taken := self._lock_free(wanted))):
                    if self._ended or is_stopped():
                        raise RunStopped("the run was stopped while it waited for a card")
                    self._changed.wait(LOOK)
                return taken
            finally:
                self._waiting.remove(turn)
                self._changed.notify_all()

    def _lock_free(self, wanted: int) -> tuple[HostCard, ...]:
        """Take as many cards as are wanted, or none."""
        free = [each for each in self.cards if each.card.name not in self._held]
        locked: dict[str, IO[str]] = {}
        taken: list[HostCard] = []
        for each in sorted(free, key=lambda each: each.card.name in self._doubtful):
            if len(taken) < wanted and (file := _try_lock(self._locks / each.card.name.replace("/", "_"))):
                locked[each.card.name] = file
                taken.append(each)
        if len(taken) < wanted:
            for file in locked.values():
                file.close()
            return ()
        self._held |= locked
        return tuple(taken)

    def _give_back(self, taken: Sequence[HostCard]) -> None:
        with self._changed:
            for each in taken:
                self._held.pop(each.card.name).close()
            self._changed.notify_all()

    def _inspect(self, taken: Sequence[HostCard], when: str) -> None:
        """Raise EngineError for a card that failed, or that somebody else uses: neither is the patch's fault."""
        for each in taken:
            users = ", ".join(self.watch.find_users(each, SETTLE))
            problem = self.watch.find_fault(each) or (f"is used by {users}" if users else "")
            (self._doubtful.add if problem else self._doubtful.discard)(each.card.name)
            if problem:
                raise EngineError(f"card {each.card.name} {problem}, {when}")


def _try_lock(path: Path) -> IO[str] | None:
    """Return a file that is locked until it is closed; None if somebody else holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("a")
    if try_lock(file):
        return file
    file.close()
    return None


class _HoldingEngine:
    """An engine with the cards that its user's boxes get."""

    def __init__(self, engine: "Engine", held: tuple[HostCard, ...]) -> None:
        self.wrapped, self.held = engine, held

    def __getattr__(self, name: str) -> Any:
        return getattr(self.wrapped, name)


@contextmanager
def hold_cards(engine: "Engine", wanted: int, is_stopped: Callable[[], bool] = lambda: False) -> "Iterator[Engine]":
    """Give an engine that holds cards until the block ends; the same one if none are wanted, or it holds them already.

    Raises as ``CardPool.hold``.
    """
    if not wanted or engine.held:
        yield engine
        return
    check_cards(engine, wanted)
    assert engine.cards is not None
    with engine.cards.hold(wanted, is_stopped) as held:
        yield cast("Engine", _HoldingEngine(engine, held))


def check_box(box: "Box", cards: Sequence[HostCard]) -> None:
    """Raise EngineError if a box lacks the device nodes of its cards: some engines ignore what they do not know."""
    inside = [[node.path for node in each.device.edits.nodes] if each.device else each.nodes for each in cards]
    nodes = sorted({node for each in inside for node in each})
    found = box.exec(["ls", "-d", *nodes]) if nodes else None
    if found and found.exit_code:
        said = found.output.decode(errors="replace").strip().splitlines()[:1]
        raise EngineError(f"the engine started a container without its cards: {''.join(said)}")


def check_cards(engine: "Engine", wanted: int) -> None:
    """Raise EnvironmentFailure if an engine cannot give a box as many cards, before anything is built for it."""
    if wanted and engine.cards is None:
        raise EnvironmentFailure(TOO_FEW.format(count(wanted, "GPU"), 0))
    if wanted and engine.cards is not None:
        engine.cards.check(wanted)
