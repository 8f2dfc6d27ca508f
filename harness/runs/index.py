"""The index of a folder of runs: which of them holds the evaluation of some content. No verdict depends on it.

One file that only grows, a line for each evaluation: its content key, and its folder below the folder of runs. The last
line of a key counts; whoever follows one checks the key that is saved in the folder.
"""

import os
import threading
from functools import lru_cache
from pathlib import Path

from assay.harness.files import append_line


class VerdictIndex:
    """Content keys and folders; safe in several threads, and in processes that add at once. Get it by ``index_of``."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "verdicts"
        self._known: dict[str, str] = {}
        self._read = 0
        """Bytes of the file that are known."""
        self._file = 0
        """Its inode number."""
        self._lock = threading.Lock()

    def add(self, key: str, place: Path) -> None:
        """Append a line; should the machine lose its power, the last ones may be lost."""
        append_line(self._path, os.fsencode(f"{key} {place}"))

    def find(self, key: str) -> str:
        """Return the folder of a key, below the folder of runs; empty if none is known."""
        with self._lock:
            self._refresh()
            return self._known.get(key, "")

    def _refresh(self) -> None:
        """Read what was added since the last time: all of it if the file is another one, or was cut off."""
        try:
            state = self._path.stat()
        except OSError:
            self._forget(0)
            return
        if state.st_ino != self._file or state.st_size < self._read:
            self._forget(state.st_ino)
        if state.st_size > self._read:
            with self._path.open("rb") as file:
                file.seek(self._read)
                for line in file:
                    if not line.endswith(b"\n"):
                        break  # is being written, or a crash tore it: the next line begins behind it
                    self._read += len(line)
                    key, _, place = os.fsdecode(line[:-1]).partition(" ")
                    self._known[key] = place

    def _forget(self, file: int) -> None:
        self._known, self._read, self._file = {}, 0, file


@lru_cache(maxsize=64)
def index_of(runs: Path) -> VerdictIndex:
    """Return the index of a folder of runs."""
    return VerdictIndex(runs / ".index")
