"""What a comparison is at, told every now and then to a person who waits."""

import threading
import time
from types import TracebackType

from assay.harness.patchdiff.contract import Note


class Pulse:
    """Keeps what was noted last and tells it, with the seconds since it began, again and again until it ends."""

    def __init__(self, tell: Note, every: float) -> None:
        """Begin with nothing to tell.

        Args:
            tell: called from a thread of its own.
            every: seconds between two calls, and before the first.
        """
        self._tell = tell
        self._every = every
        self._began = time.monotonic()
        self._text = ""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def __call__(self, text: str) -> None:
        """Note what is going on from now on."""
        self._text = text

    def __enter__(self) -> "Pulse":
        """Begin to tell."""
        self._thread.start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Stop telling."""
        self._over.set()
        self._thread.join()

    def _beat(self) -> None:
        while not self._over.wait(self._every):
            if self._text:
                self._tell(f"{self._text} ({time.monotonic() - self._began:.0f} s)")
