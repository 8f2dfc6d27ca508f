"""Files of a run's folder, opened without following a link and without waiting for a pipe."""

import os
from collections.abc import Sequence
from contextlib import suppress
from io import FileIO
from pathlib import Path

from assay.harness.files import SAFE, open_regular


def open_inside(folder: Path, parts: Sequence[str]) -> FileIO | None:
    """Open a regular file below a folder for reading; None if there is none, or only by way of a link.

    Args:
        folder: it may itself be a link.
        parts: names of folders and at last of the file, each without a slash.
    """
    if not parts or any(part in {"", ".", ".."} or "/" in part or "\0" in part for part in parts):
        return None
    with suppress(OSError):
        return _open(folder, parts)
    return None


def read_inside(folder: Path, parts: Sequence[str], most: int = -1) -> bytes | None:
    """Return the first ``most`` bytes of the file that ``open_inside`` opens; all by default."""
    file = open_inside(folder, parts)
    if file is None:
        return None
    with file:
        return file.read(most)


def _open(folder: Path, parts: Sequence[str]) -> FileIO:
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            at, above = os.open(part, SAFE | os.O_DIRECTORY, dir_fd=at), at
            os.close(above)
        return open_regular(parts[-1], at)
    finally:
        os.close(at)


def read_start(file: str, most: int = -1) -> bytes:
    """Return the first bytes of a regular file, all by default; raises OSError if there is none."""
    with open_regular(file) as opened:
        return opened.read(most)
