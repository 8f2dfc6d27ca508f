"""How far a run is, from its files: for a person who looks at it while it works."""

import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from assay.harness.runs.control import is_at_work
from assay.harness.runs.manifest import RunKind
from assay.harness.runs.store import RunStore

LATEST = 8  # ended items that are kept


@dataclass(frozen=True, slots=True)
class ItemAtWork:
    """An instance, or one sample of it, that has begun and not ended."""

    instance: str
    stage: str
    """``building``, ``testing`` or ``saving``; empty where it is not known, as on another machine."""
    seconds: float
    """Since the stage began."""


@dataclass(frozen=True, slots=True)
class RunState:
    """How far a run is."""

    run: str
    state: Literal["running", "paused", "ended", "interrupted"]
    done: int
    total: int
    jobs: int
    per_hour: float | None
    """Items an hour since the command began; None if it is not at work."""
    seconds_left: float | None
    """None if nothing is known, or it does not run."""
    at_work: tuple[ItemAtWork, ...] = ()
    latest: tuple[tuple[str, str], ...] = ()
    """The last items that ended, newest first, each with its outcome or status."""


@dataclass
class Standing:
    """What the journal of a run says of its last command; each ``read`` takes only what is new in it."""

    store: RunStore
    begun: float = 0.0
    """Time at which the command planned its work."""
    known: int = 0
    count: int = 0
    jobs: str = ""
    """Empty until a person has changed them."""
    paused: bool = False
    ended: set[str] = field(default_factory=set)
    at_work: dict[str, tuple[str, str, float]] = field(default_factory=dict)
    """Instance, stage and the time at which that began, of every item."""
    latest: deque[tuple[str, str]] = field(default_factory=lambda: deque(maxlen=LATEST))
    _at: int = 0

    def read(self) -> None:
        events, self._at = self.store.read_events(self._at)
        for event in events:
            if "rerun" not in event:
                self._take(event, str(event.get("event")), _number(event.get("time")))

    def _take(self, event: dict[str, Any], what: str, at: float) -> None:
        instance, value = str(event.get("instance", "")), str(event.get("value", ""))
        item = f"{instance} {event.get('sample', '')}"
        if what == "planned":
            self.begun, self.known, self.count = at, int(_number(event.get("known"))), int(_number(event.get("count")))
            self.jobs, self.paused = "", False
            for each in (self.ended, self.at_work, self.latest):
                each.clear()
        elif what == "started":
            self.at_work[item] = (instance, "", at)
        elif what in {"building", "testing", "saving"}:
            self.at_work[item] = (instance, what, at)
        elif what == "finished":
            self.at_work.pop(item, None)
            self.ended.add(item)
            self.latest.appendleft((instance, str(event.get("outcome", event.get("status", "")))))
        elif what == "jobs":
            self.jobs = value
        elif what in {"paused", "resumed"}:
            self.paused = what == "paused"


def _number(value: object) -> float:
    """Return a number of the journal, which anybody may have written; 0 for what is none."""
    with suppress(ValueError):
        found = float(str(value))
        return found if 0 <= found < 1e15 else 0.0
    return 0.0


def read_state(store: RunStore, standing: Standing | None = None) -> RunState:
    """Read how far a run is from its files; raises UserError for a folder without one.

    With the ``standing`` of the last call, only what is new in the journal is read.
    """
    about, name, now = store.load_run(), store.root.name, standing or Standing(store)
    now.read()
    done, total = now.known + len(now.ended), now.count
    if not is_at_work(store):
        is_solve = about.kind is RunKind.SOLVE
        if not is_solve:
            done, total = len(store.load_outcomes()), len({*about.instance_ids} or store.load_predictions())
        ended = 0 < total <= done if is_solve else store.load_report() is not None
        return RunState(name, "ended" if ended else "interrupted", done, total, 0, None, None)
    clock = time.time()
    rate = len(now.ended) / max(clock - now.begun, 0.001)
    return RunState(
        name,
        "paused" if now.paused else "running",
        done,
        total,
        int(_number(now.jobs or about.settings.get("jobs", "0"))),
        round(rate * 3600, 1),
        None if now.paused or not now.ended else round(max(0, total - done) / rate, 1),
        tuple(ItemAtWork(name, stage, round(max(0.0, clock - at), 1)) for name, stage, at in now.at_work.values()),
        tuple(now.latest),
    )
