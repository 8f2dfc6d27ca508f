"""One thing done for each instance: several at once, what the infrastructure broke again, none stopping another."""

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest

from assay.harness.domain import Instance
from assay.harness.errors import AssayError, EngineError, ImageMissing
from assay.harness.runs.attempt import PAUSE
from assay.harness.runs.crew import Crew, Progress


@dataclass(frozen=True, slots=True)
class Done:
    instance_id: str
    result: str = ""
    """Such as the name of its image; empty if it failed."""
    error: str = ""
    seconds: float = 0.0
    broke: bool = False
    """Whether the infrastructure failed, so that another attempt may do better."""


@dataclass(frozen=True, slots=True)
class ForEach:
    """The Work of a Crew that does one thing for each instance and keeps no record."""

    do: Callable[[Instance], str]
    _seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def key(self, instance: Instance) -> str:
        return instance.id

    def find_known(self, _instance: Instance) -> Done | None:
        """Know nothing: whoever does it sees what is there already."""
        return None

    def plan(self, pending: Mapping[str, Instance], _total: int) -> list[str]:
        """Take repositories in turn: instances of one share layers, and would wait for each other."""
        groups = defaultdict(list)
        for name, instance in pending.items():
            groups[instance.language, instance.repo.lower()].append(name)
        rounds = zip_longest(*groups.values())
        return [name for name in chain.from_iterable(rounds) if name is not None]

    def begin(self, _instance: Instance, _number: int) -> None:
        pass

    def attempt(self, instance: Instance, _number: int) -> Done:
        """Do it; a bug in Assay costs no other instance its result."""
        began = time.monotonic()
        try:
            done = Done(instance.id, self.do(instance))
        except AssayError as error:
            broke = isinstance(error, EngineError) and not isinstance(error, ImageMissing)
            done = Done(instance.id, error=str(error), broke=broke)
        except Exception as error:
            done = Done(instance.id, error=f"internal error: {error!r}")
        self._seconds[instance.id] += time.monotonic() - began
        return done

    def may_retry(self, _instance: Instance, done: Done) -> bool:
        return done.broke

    def save(self, instance: Instance, done: Done) -> Done:
        return Done(done.instance_id, done.result, done.error, self._seconds[instance.id], done.broke)


def do_for_each(
    instances: Sequence[Instance],
    do: Callable[[Instance], str],
    jobs: int,
    progress: Progress[Instance, Done],
    *,
    abort: Callable[[], None],
    pause: float = PAUSE,
) -> list[Done]:
    """Do one thing for each instance; return the results in their order.

    Args:
        instances: with different ids.
        do: returns the result; raises AssayError.
        jobs: at once.
        progress: called for each instance.
        abort: ends everything that is at work.
        pause: seconds before a second attempt.

    Raises:
        RunStopped: a signal ended it.
    """
    return Crew(jobs, abort, pause).complete(ForEach(do), instances, progress=progress)
