"""Containers that are opened before they are asked for, while there is time: each is used once, for what it was made.

Only what can be done without knowing the patch is done ahead: the container is there and runs nothing.
"""

import threading
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from assay.harness.domain import Limits
from assay.harness.engines.base import Box, BoxSpec, Engine
from assay.harness.errors import EngineError

OLDEST = 300.0
"""Seconds after which a spare box is replaced: its tests end before other machines may take it for an orphan."""
PATIENCE = 10.0  # seconds that the last box may take to open or to be removed when no more are wanted
LOOK = 10.0  # seconds between two looks at the age of spare boxes


@dataclass(frozen=True, slots=True)
class BoxKind:
    """All that a box depends on before anything is delivered to it."""

    image: str
    digest: str
    """The image's, when the box was opened."""
    limits: Limits
    labels: frozenset[tuple[str, str]]


@dataclass(eq=False, slots=True)
class SpareBox:
    kind: BoxKind
    box: Box
    opened: ExitStack
    """Removes the box when it is closed."""
    since: float = field(default_factory=time.monotonic)

    @property
    def is_old(self) -> bool:
        return time.monotonic() - self.since > OLDEST

    def deliver(self, archive: bytes) -> bool:
        """Deliver an archive; return whether that worked. A box that refuses it is removed."""
        began = time.monotonic()
        try:
            if archive:
                self.box.put(archive)
        except EngineError:
            self.close()
            return False
        self.box.create_seconds = self.box.start_seconds = 0.0
        self.box.deliver_seconds = time.monotonic() - began
        return True

    def close(self) -> None:
        """Remove the box; one that cannot be removed is left to ``reap``."""
        with suppress(EngineError):
            self.opened.close()


class WarmEngine:
    """An engine that opens boxes ahead like the last ones that were asked for, in a thread beside its users."""

    def __init__(self, engine: Engine, most: int, jobs: int) -> None:
        """Let at most ``most`` boxes wait; while ``jobs`` are in use, evaluations wait anyway: open none ahead."""
        self.wrapped = engine
        self._jobs = jobs
        self._recent: deque[BoxKind] = deque(maxlen=most)
        self._spares: list[SpareBox] = []
        self._in_use = 0
        self._ended = False
        self._changed = threading.Condition()
        self._tender = threading.Thread(target=self._tend, daemon=True, name="assay-spares")
        self._tender.start()

    @property
    def waiting(self) -> int:
        return len(self._spares)

    def expect(self, spec: BoxSpec) -> None:
        """Have a box opened ahead, if there is room, for what is probably asked for; raises EngineError."""
        if spec.limits.gpus:
            return  # a card is nobody's until it is asked for
        kind = self._kind(spec)
        with self._changed:
            if len(self._recent) < (self._recent.maxlen or 0):
                self._recent.append(kind)
                self._changed.notify()

    @contextmanager
    def open(self, spec: BoxSpec) -> Iterator[Box]:
        is_plain = not (spec.mounts or spec.services or spec.cards)
        spare = self._take(self._kind(spec)) if is_plain else None
        with self._using():
            if spare is None or not spare.deliver(spec.archive):
                with self.wrapped.open(spec) as box:
                    yield box
                return
            try:
                with spare.opened:
                    yield spare.box
            except EngineError:
                self.drop()  # what ended one of them may have ended all
                raise

    def drop(self) -> None:
        """Remove the boxes that wait."""
        with self._changed:
            spares, self._spares = self._spares, []
            self._recent.clear()
        threads = [threading.Thread(target=each.close) for each in spares]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def end(self) -> None:
        """Remove the boxes that wait, and open none ahead any more."""
        with self._changed:
            self._ended = True
            self._changed.notify()
        self._tender.join(PATIENCE)
        self.drop()

    def abort(self) -> None:
        with self._changed:
            self._ended = True
        self.wrapped.abort()
        self.end()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.wrapped, name)

    def _kind(self, spec: BoxSpec) -> BoxKind:
        info = self.wrapped.find_image(spec.image)
        return BoxKind(spec.image, info.digest if info else "", spec.limits, frozenset(spec.labels.items()))

    @contextmanager
    def _using(self) -> Iterator[None]:
        with self._changed:
            self._in_use += 1
            self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._in_use -= 1
                self._changed.notify()

    def _take(self, kind: BoxKind) -> SpareBox | None:
        with self._changed:
            self._recent.append(kind)
            found = next((each for each in self._spares if each.kind == kind and not each.is_old), None)
            if found is not None:
                self._spares.remove(found)
            return found

    def _tend(self) -> None:
        while True:
            with self._changed:
                unwanted, missing = self._find_unwanted(), self._find_missing()
                if self._ended:
                    return
                if not (unwanted or missing):
                    self._changed.wait(LOOK)
                    continue
                self._spares = [each for each in self._spares if each not in unwanted]
            for each in unwanted:  # first, so that there are never more than may wait
                each.close()
            if missing:
                self._add(missing)

    def _find_unwanted(self) -> list[SpareBox]:
        """Return the spare boxes that are too old, or for what others have been asked for since."""
        wanted = Counter(self._recent)
        wanted.subtract(each.kind for each in self._spares if not each.is_old)
        found = [each for each in self._spares if each.is_old]
        for each in self._spares:
            if not each.is_old and wanted[each.kind] < 0:
                wanted[each.kind] += 1
                found.append(each)
        return found

    def _find_missing(self) -> BoxKind | None:
        """Choose the next box to open; the latest request comes first."""
        if self._in_use >= self._jobs:
            return None
        there = Counter(each.kind for each in self._spares)
        wanted = Counter(self._recent)
        return next((kind for kind in reversed(self._recent) if there[kind] < wanted[kind]), None)

    def _add(self, kind: BoxKind) -> None:
        opened = ExitStack()
        spec = BoxSpec(kind.image, kind.limits, dict(kind.labels))
        try:
            spare = SpareBox(kind, opened.enter_context(self.wrapped.open(spec)), opened)
            is_good = self._kind(spec) == kind
        except EngineError:
            is_good = False
        with self._changed:
            if is_good and not self._ended:
                self._spares.append(spare)
                return
            self._recent.clear()  # the next evaluation reports what is wrong; until then nothing is tried again
        with suppress(EngineError):
            opened.close()
