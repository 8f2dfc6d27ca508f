"""Report the current step of a long comparison at regular intervals."""

import threading
import time
from types import TracebackType

from assay.harness.patchdiff.contract import Note


class Pulse:
    """Repeats the last note, with the seconds since the start, until it is closed."""

    def __init__(self, report: Note, every: float) -> None:
        """Start without a note.

        Args:
            report: called from a separate thread.
            every: seconds between two calls, and before the first.
        """
        self._report = report
        self._every = every
        self._began = time.monotonic()
        self._text = ""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def __call__(self, text: str) -> None:
        """Set the current step."""
        self._text = text

    def __enter__(self) -> "Pulse":
        """Start to report."""
        self._thread.start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Stop reporting."""
        self._over.set()
        self._thread.join()

    def _beat(self) -> None:
        while not self._over.wait(self._every):
            if self._text:
                self._report(f"{self._text} ({time.monotonic() - self._began:.0f} s)")
