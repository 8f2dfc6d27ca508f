"""Calls that a waiting thread can be released from: at a deadline, and by another thread."""

import asyncio
import threading
import weakref
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError
from typing import Any, TypeVar

from assay.harness.errors import RunStopped

Result = TypeVar("Result")
GIVEN_UP = "the question to the model was given up"


class Calls:
    """Runs coroutines in a thread of their own; safe to use from several threads."""

    def __init__(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Start the thread; ``last`` is its last call."""
        self._loop = asyncio.new_event_loop()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=_serve, args=(self._loop, last), name="assay-model", daemon=True)
        self._thread.start()
        # In case nobody closes this: garbage is collected in any thread at any time, so it must not wait.
        self._end = weakref.finalize(self, self._loop.call_soon_threadsafe, self._loop.stop)

    def close(self) -> None:
        self._end()
        self._thread.join()

    def run(self, call: Coroutine[Any, Any, Result], seconds: float | None = None) -> Result:
        """Wait for a result. Raises RunStopped after ``abort``, and TimeoutError, which ends the call's connection."""
        future = asyncio.run_coroutine_threadsafe(self._run_limited(call, seconds), self._loop)
        try:
            return future.result()
        except CancelledError:
            call.close()  # it may not have begun
            raise RunStopped(GIVEN_UP) from None
        except BaseException:  # a signal in the waiting thread; does nothing to a call that has ended
            future.cancel()
            raise

    async def _run_limited(self, call: Coroutine[Any, Any, Result], seconds: float | None) -> Result:
        if self._stopped.is_set():
            raise asyncio.CancelledError
        return await asyncio.wait_for(call, seconds)

    def sleep(self, seconds: float) -> None:
        """Wait; raises RunStopped as soon as ``abort`` is called."""
        if self._stopped.wait(seconds):
            raise RunStopped(GIVEN_UP)

    def abort(self) -> None:
        """End all calls at once; later ones end as they begin."""
        self._stopped.set()
        self._loop.call_soon_threadsafe(_cancel_all, self._loop)


def _serve(loop: asyncio.AbstractEventLoop, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run calls until the loop is stopped; then end those under way, and make the last one."""
    loop.run_forever()
    tasks = _cancel_all(loop)
    loop.run_until_complete(asyncio.wait(tasks) if tasks else asyncio.sleep(0))
    loop.run_until_complete(last())
    loop.run_until_complete(asyncio.sleep(0))  # closed connections get their last callbacks
    loop.close()


def _cancel_all(loop: asyncio.AbstractEventLoop) -> set[asyncio.Task[Any]]:
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    return tasks
