"""Files of a run's folder, opened without following a link and without waiting for a pipe."""

import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

_SAFE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def open_inside(folder: Path, parts: Sequence[str]) -> BinaryIO | None:
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


def _open(folder: Path, parts: Sequence[str]) -> BinaryIO:
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            at, above = os.open(part, _SAFE | os.O_DIRECTORY, dir_fd=at), at
            os.close(above)
        number = os.open(parts[-1], _SAFE, dir_fd=at)
    finally:
        os.close(at)
    return _regular(number)


def read_regular(file: str, most: int = -1) -> bytes:
    """Return the content of a regular file, or its first bytes; raises OSError if there is none."""
    with _regular(os.open(file, _SAFE)) as opened:
        return opened.read(most)


def _regular(number: int) -> BinaryIO:
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise FileNotFoundError("not a regular file")
    return os.fdopen(number, "rb", buffering=0)
