"""Making an image unless it is there, once for everybody who wants it at the same time."""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from assay.harness.engines.base import Engine
from assay.harness.files import locked

Make = Callable[[Path, Path], None]
"""Makes an image; takes an empty folder to work in and the file to write its log to."""


def ensure(
    name: str, engine: Engine, cache: Path, make: Make, note: Callable[[str], None] = lambda _text: None
) -> None:
    """Make an image unless the engine has it.

    Args:
        name: of the image.
        engine: where it belongs.
        cache: folder of locks, logs and scratch space; processes that share it wait for each other.
        make: brings it into being.
        note: told before and after; what it raises keeps the image from being made.
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
    """Return a folder for work in the cache, where hard links work and large trees have room."""
    folder = cache / "scratch"
    folder.mkdir(parents=True, exist_ok=True)
    return tempfile.TemporaryDirectory(dir=folder)
