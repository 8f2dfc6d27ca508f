"""The index of a folder of runs: which of them holds the evaluation of some content. No verdict depends on it.

One file that only grows, a line for each evaluation: its content key, and its folder below the folder of runs. The last
line of a key counts; whoever follows one checks the key that is saved in the folder.
"""

import os
import threading
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from assay.harness.runs.growing import GrowingFile


class VerdictIndex:
    """Content keys and folders; safe in several threads, and in processes that add at once. Get it by ``get_index``."""

    def __init__(self, folder: Path) -> None:
        self._file = GrowingFile(folder / "verdicts")
        self._known: dict[str, str] = {}
        self._lock = threading.Lock()

    def add(self, places: Mapping[str, str]) -> None:
        """Append the folder of each key; should the machine lose its power, the last ones may be lost."""
        self._file.add(os.fsencode(f"{key} {place}") for key, place in places.items())

    def find(self, key: str) -> str:
        """Return the folder of a key, below the folder of runs; empty if none is known."""
        with self._lock:
            for _, line in self._file.news(self._known.clear):
                known, _, place = os.fsdecode(line).partition(" ")
                self._known[known] = place
            return self._known.get(key, "")


@lru_cache(maxsize=64)
def get_index(runs: Path) -> VerdictIndex:
    return VerdictIndex(runs / ".index")
