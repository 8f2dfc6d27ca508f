"""Builds an image that the engine lacks, once for all threads and processes that want it."""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from assay.harness.engines.base import Engine
from assay.harness.errors import EnvironmentFailure
from assay.harness.files import hold_lock

Make = Callable[[Path, Path], None]
"""Builds an image; takes an empty folder to work in and the file to write its log to."""


class SharedFailures:
    """Steps that failed, by name: whoever shares a step shares its failure, and none is tried twice."""

    def __init__(self) -> None:
        self._failed: dict[str, EnvironmentFailure] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._failed

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Do a step in the block; raises the failure of an earlier try.

        Threads that want the same step hold a lock of it, so that the second finds the failure of the first.
        """
        if known := self._failed.get(name):
            raise EnvironmentFailure(known.problem, log_path=known.log_path, tail=known.tail, cause=known.cause)
        try:
            yield
        except EnvironmentFailure as error:
            self._failed[name] = error
            raise


def ensure(
    name: str,
    engine: Engine,
    cache: Path,
    make: Make,
    note: Callable[[str], None] = lambda _text: None,
    failures: SharedFailures | None = None,
) -> bool:
    """Build an image unless the engine has it; return whether this call built it.

    Args:
        cache: folder of locks, logs and scratch space; processes that share it wait for each other.
        note: called with a line before and after; what it raises before prevents the build.
        failures: of earlier builds, which are not tried again; None tries every time.
    """
    if engine.find_image(name) is not None:
        return False
    file = name.replace("/", "-").replace(":", "-")
    log = cache / "logs" / f"{file}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with hold_lock(cache / "building" / f"{file}.lock"), (failures or SharedFailures()).step(name):
        if engine.find_image(name) is not None:
            return False
        note(f"building {name}")
        began = time.monotonic()
        with scratch_folder(cache) as scratch:
            make(Path(scratch), log)
        note(f"built {name} in {time.monotonic() - began:.1f} s")
    return True


def scratch_folder(cache: Path) -> tempfile.TemporaryDirectory[str]:
    """Make a temporary folder in the cache, where hard links work and large trees have room."""
    folder = cache / "scratch"
    folder.mkdir(parents=True, exist_ok=True)
    return tempfile.TemporaryDirectory(dir=folder)
