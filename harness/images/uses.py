"""Which images are in use by whom, and when each was used last: kept in the cache, for every process on a machine."""

import fcntl
import threading
import uuid
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from assay.harness.engines.base import Engine, ImageInfo
from assay.harness.files import hold_lock, try_lock


class Uses:
    """The images that living processes need, in one folder; safe in several threads and processes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._mine: Counter[str] = Counter()
        self._file: IO[str] | None = None
        self._lock = threading.Lock()

    @contextmanager
    def hold(self) -> Iterator["Hold"]:
        """Keep the images that the block adds to the hold: no process removes them before the block ends."""
        hold = Hold(self)
        try:
            yield hold
        finally:
            self._change(hold.names, -1)

    def remove(self, engine: Engine, name: str) -> bool:
        """Remove an image that nobody holds; return False if somebody does. Raises EngineError."""
        with hold_lock(self._folder / "guard"):
            if name in self.find_held():
                return False
            engine.remove_image(name)
            with suppress(FileNotFoundError):
                self._last(name).unlink()
        return True

    def find_held(self) -> set[str]:
        """Find the images that living processes hold; forget the ones of dead processes."""
        names: set[str] = set()
        for file in self._folder.glob("*.held"):
            with suppress(FileNotFoundError), file.open() as opened:
                own = self._file is not None and Path(self._file.name).name == file.name
                if not own and try_lock(opened, shared=True):
                    file.unlink()
                else:
                    names |= set(opened.read().split())
        return names

    def last_used(self, image: ImageInfo) -> float:
        """Return the time of an image's last use, in seconds since 1970; if never used, the time it was made."""
        with suppress(FileNotFoundError):
            return self._last(image.name).stat().st_mtime
        return float(image.created) if image.created.isdigit() else 0.0

    def _change(self, names: Collection[str], by: int) -> None:
        with self._lock, hold_lock(self._folder / "guard"):
            for name in names:
                self._mine[name] += by
                self._last(name).parent.mkdir(exist_ok=True)
                self._last(name).touch()
            self._write(+self._mine)

    def _write(self, names: Collection[str]) -> None:
        """Write what this process holds into a file that stays locked as long as it holds anything and lives."""
        if self._file is None:
            self._file = (self._folder / f"{uuid.uuid4().hex}.held").open("w")
            fcntl.flock(self._file, fcntl.LOCK_EX)
        self._file.seek(0)
        self._file.truncate()
        self._file.write("\n".join(names))
        self._file.flush()
        if not names:
            Path(self._file.name).unlink()
            self._file.close()
            self._file = None

    def _last(self, name: str) -> Path:
        return self._folder / "last" / name.replace("/", "-").replace(":", "-")


class Hold:
    def __init__(self, uses: Uses) -> None:
        self.names: list[str] = []
        self._uses = uses

    def add(self, *names: str) -> None:
        """Hold images, which need not be there yet."""
        new = [name for name in names if name not in self.names]
        if new:
            self._uses._change(new, 1)
            self.names += new
