import asyncio
import threading
import time

import pytest

from assay.agents.llm.call_loop import Calls
from assay.harness.errors import RunStopped


async def nothing() -> None:
    return


async def four() -> int:
    await asyncio.sleep(0)
    return 4


def test_result_and_error_of_a_call_reach_the_caller() -> None:
    calls = Calls(nothing)
    assert calls.run(four()) == 4
    with pytest.raises(TimeoutError):
        calls.run(asyncio.sleep(60), 0.05)
    assert calls.run(four(), 60) == 4
    calls.close()


def test_abort_ends_a_wait_between_two_tries() -> None:
    calls = Calls(nothing)
    threading.Timer(0.1, calls.abort).start()
    began = time.monotonic()
    with pytest.raises(RunStopped):
        calls.sleep(60)
    assert time.monotonic() - began < 30
    with pytest.raises(RunStopped):
        calls.run(four())
    calls.close()


def test_forgotten_calls_leave_no_thread() -> None:
    ended = threading.Event()

    async def last() -> None:
        ended.set()

    calls = Calls(last)
    calls.run(four())
    del calls
    assert ended.wait(60)
