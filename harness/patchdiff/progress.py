"""Report the current step of a long comparison at regular intervals."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from assay.harness.patchdiff.contract import Note


@contextmanager
def pulse(report: Note, every: float) -> Iterator[Note]:
    """Give a function that sets the current step, which a thread reports every so many seconds until the end."""
    began, over, step = time.monotonic(), threading.Event(), ""

    def note(text: str) -> None:
        nonlocal step
        step = text

    def beat() -> None:
        while not over.wait(every):
            if step:
                report(f"{step} ({time.monotonic() - began:.0f} s)")

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield note
    finally:
        over.set()
        thread.join()
