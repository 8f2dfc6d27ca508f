"""Report the current step of a long comparison at regular intervals."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Note = Callable[[str], None]


def silent(_text: str) -> None:
    """Report nothing: the ``Note`` of who shows no progress."""


@contextmanager
def pulse(report: Note, every: float) -> Iterator[Note]:
    """Give a function that sets the current step, which a thread reports every ``every`` seconds."""
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
