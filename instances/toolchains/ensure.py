"""Builds an image that the engine lacks, once for all threads and processes that want it."""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from assay.harness.engines.base import Engine
from assay.harness.files import locked

Make = Callable[[Path, Path], None]
"""Builds an image; takes an empty folder to work in and the file to write its log to."""


def ensure(
    name: str, engine: Engine, cache: Path, make: Make, note: Callable[[str], None] = lambda _text: None
) -> None:
    """Build an image unless the engine has it.

    Args:
        name: name of the image.
        engine: the engine that must have it.
        cache: folder of locks, logs and scratch space; processes that share it wait for each other.
        make: builds it.
        note: called with a line before and after; what it raises before prevents the build.
    """
    if engine.find_image(name) is not None:
        return
    file = name.replace("/", "-").replace(":", "-")
    log = cache / "logs" / f"{file}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with locked(cache / "building" / f"{file}.lock"):
        if engine.find_image(name) is not None:
            return
        note(f"building {name}")
        began = time.monotonic()
        with scratch_folder(cache) as scratch:
            make(Path(scratch), log)
        note(f"built {name} in {time.monotonic() - began:.1f} s")


def scratch_folder(cache: Path) -> tempfile.TemporaryDirectory[str]:
    """Return a temporary folder in the cache, where hard links work and large trees have room."""
    folder = cache / "scratch"
    folder.mkdir(parents=True, exist_ok=True)
    return tempfile.TemporaryDirectory(dir=folder)
