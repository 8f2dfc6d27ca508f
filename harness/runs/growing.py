"""A file of lines that only grows, and is read as it grows."""

import os
import weakref
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from assay.harness.files import SAFE, append_lines


class GrowingFile:
    """A file that gets lines and yields the new ones; not safe in several threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._number = -1
        self._close: Callable[[], object] = lambda: None
        self._inode = 0
        self._read = 0
        """Bytes of the file that were looked at."""

    def add(self, lines: Iterable[bytes], *, syncs: bool = False) -> None:
        """Append whole lines; they are on the disk when this returns only with ``syncs``."""
        append_lines(self.path, lines, syncs=syncs)

    def news(self, forget: Callable[[], object]) -> Iterator[tuple[int, bytes]]:
        """Yield the place in the file, and the text without its end, of each line since the last look.

        If the file was replaced, removed or cut off since then, ``forget`` is called, and all lines are new.
        """
        try:
            state = self.path.stat()
            if state.st_ino != self._inode or state.st_size < self._read:
                forget()
                self._open(os.open(self.path, SAFE), state.st_ino)
        except OSError:
            forget()
            self._inode = 0
            return
        if state.st_size > self._read:
            yield from self._new_lines()

    def line(self, start: int, size: int) -> bytes:
        """Return the text of a line that ``news`` has yielded."""
        return os.pread(self._number, size, start)

    def _open(self, number: int, inode: int) -> None:
        self._close()
        self._close = weakref.finalize(self, os.close, number)
        self._number, self._inode, self._read = number, inode, 0

    def _new_lines(self) -> Iterator[tuple[int, bytes]]:
        with os.fdopen(self._number, "rb", closefd=False) as file:
            file.seek(self._read)
            for line in file:
                if not line.endswith(b"\n"):
                    break  # is being written, or a crash tore it: the next line begins behind it
                start, self._read = self._read, self._read + len(line)
                yield start, line[:-1]
