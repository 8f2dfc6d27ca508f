"""What a run does when it is told to stop: end what is at work, save what is finished, and leave in time."""

import os
import signal
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from types import FrameType

PATIENCE = 4.0
"""Seconds that an interrupted run has for ending what is at work, before the process leaves without it."""
IMPATIENCE = 2.0
"""The same after a second interrupt."""


def leave(at_work: Collection[str], seconds: float) -> None:
    """End this process when nothing is at work any more, at the latest after some seconds.

    A container that is still there then is removed by the next run, which finds its owner dead.
    """
    latest = time.monotonic() + seconds
    while at_work and time.monotonic() < latest:
        time.sleep(0.02)
    if os.isatty(2):
        os.write(2, b"\x1b[?25h")  # the cursor, which a progress line hides
    os._exit(130)


@contextmanager
def on_interrupt(abort: Callable[[], None], leave: Callable[[float], None]) -> Iterator[None]:
    """Call ``abort`` at the first SIGINT or SIGTERM and raise KeyboardInterrupt; ``leave`` at the second, or if it is
    still not over after a while.

    After an interrupt the earlier handlers stay away: whoever asked twice must not get another exit status because
    the work was over between the two.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signals = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in signals}
    watch = threading.Timer(PATIENCE, leave, [0.0])
    watch.daemon = True
    stopped = threading.Event()

    def stop(_number: int, _frame: FrameType | None) -> None:
        stopped.set()
        for number in signals:
            signal.signal(number, lambda _number, _frame: leave(IMPATIENCE))
        watch.start()
        abort()
        raise KeyboardInterrupt

    for number in signals:
        signal.signal(number, stop)
    try:
        yield
    finally:
        watch.cancel()
        if not stopped.is_set():
            for number, handler in before.items():
                signal.signal(number, handler)
