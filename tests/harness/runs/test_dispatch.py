"""A crew: that all work is done, what is tried again, and how it ends when it is told to stop."""

import os
import pty
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from assay.harness.runs.dispatch import ATTEMPTS, Crew, InterruptedRunError
from assay.harness.runs.executors import find_executor

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """After an interrupt those of the crew stay; the next test must not meet them."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def crew_of(
    executor: str = "threads", jobs: int = 2, abort: Callable[[], None] = lambda: None, pause: float = 0
) -> Crew:
    return Crew(find_executor(executor), jobs, abort, pause)


def interrupt_when(condition: Callable[[], bool], number: int = signal.SIGINT) -> None:
    def wait() -> None:
        while not condition():
            time.sleep(0.005)
        time.sleep(0.1)  # until the executor, too, has nothing left but to wait
        os.kill(os.getpid(), number)

    threading.Thread(target=wait, daemon=True).start()


@pytest.mark.parametrize("executor", ["inline", "threads"])
def test_the_work_is_done_on_every_item(executor: str) -> None:
    assert sorted(crew_of(executor, jobs=3).run(lambda item: item * item, range(7))) == [0, 1, 4, 9, 16, 25, 36]


@pytest.mark.parametrize("executor", ["inline", "threads"])
def test_what_the_work_raises_reaches_the_caller(executor: str) -> None:
    crew = crew_of(executor)

    def work(_item: int) -> None:
        with crew.at_work("it"):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        crew.run(work, range(3))


def test_while_it_is_at_work_signals_are_its_own_and_afterwards_not() -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    (meanwhile,) = crew_of().run(lambda _item: [signal.getsignal(number) for number in SIGNALS], range(1))
    assert not set(meanwhile) & set(before)
    assert [signal.getsignal(number) for number in SIGNALS] == before


@pytest.mark.parametrize(
    ("good_from", "attempts"), [(1, [1]), (2, [1, 2]), (ATTEMPTS, [1, 2, 3]), (ATTEMPTS + 1, [1, 2, 3])]
)
def test_what_failed_is_tried_again_but_not_forever(good_from: int, attempts: list[int]) -> None:
    made: list[int] = []

    def once(number: int) -> int:
        made.append(number)
        return number

    assert crew_of().attempt(once, lambda number: number < good_from) == attempts[-1]
    assert made == attempts


def test_it_waits_before_another_attempt_and_longer_before_the_third() -> None:
    made: list[float] = []
    crew_of(pause=0.05).attempt(lambda _number: made.append(time.monotonic()), lambda _result: True)
    assert made[1] - made[0] >= 0.05
    assert made[2] - made[1] >= 0.1


@pytest.mark.parametrize("number", SIGNALS)
def test_told_to_stop_it_aborts_what_is_at_work_and_begins_nothing_more(number: int) -> None:
    aborted, begun, ended, refused = threading.Event(), [], [], []
    crew = crew_of(abort=aborted.set)

    def work(item: int) -> None:
        begun.append(item)
        try:
            with crew.at_work(f"item {item}"):
                ended.append(aborted.wait(600))
        except InterruptedRunError as error:
            refused.append(str(error))
            raise

    interrupt_when(lambda: len(begun) == 2, number)
    with pytest.raises(KeyboardInterrupt):
        crew.run(work, range(50))
    assert ended == [True, True]
    assert {"item 0", "item 1"} <= set(refused), "what came of it is worthless"
    assert len(refused) == len(begun), "what a worker still took from the queue was refused"


def test_in_the_thread_that_does_the_work_too() -> None:
    aborted, begun = threading.Event(), []
    crew = crew_of("inline", abort=aborted.set)

    def work(item: int) -> None:
        begun.append(item)
        with crew.at_work(f"item {item}"):
            time.sleep(600)

    interrupt_when(lambda: len(begun) == 1)
    with pytest.raises(KeyboardInterrupt):
        crew.run(work, range(3))
    assert begun == [0]
    assert aborted.wait(60)


@pytest.mark.parametrize("moment", ["in the attempt", "in the pause before the next"])
def test_once_told_to_stop_nothing_is_tried_again(moment: str) -> None:
    aborted, made, asked = threading.Event(), [], []
    crew = crew_of(abort=aborted.set, pause=600)

    def once(number: int) -> None:
        made.append(number)
        if moment == "in the attempt":
            aborted.wait(600)

    def failed(_result: None) -> bool:
        asked.append(made[-1])
        return True

    interrupt_when(lambda: bool(made if moment == "in the attempt" else asked))
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        crew.run(lambda _item: crew.attempt(once, failed), range(1))
    assert time.monotonic() - began < 60
    assert made == [1]
    assert asked == ([] if moment == "in the attempt" else [1]), "an aborted attempt is no failure"


PROGRAM = """
import sys, time
from assay.harness.runs.dispatch import Crew
from assay.harness.runs.executors import find_executor

crew = Crew(find_executor("threads"), 1, lambda: None)

def work(seconds):
    with crew.at_work("it"):
        print("begun", flush=True)
        time.sleep(seconds)
        print("over", flush=True)

crew.run(work, [float(sys.argv[1])])
"""


@pytest.mark.parametrize(("seconds", "told"), [("1", "over\n"), ("600", "")])
def test_a_second_interrupt_waits_a_moment_for_the_work_and_leaves_the_terminal_as_it_was(
    seconds: str, told: str
) -> None:
    terminal, stderr = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, seconds], stdout=subprocess.PIPE, stderr=stderr, text=True
    )
    os.close(stderr)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    for _ in range(2):
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert rest == told
    assert b"\x1b[?25h" in os.read(terminal, 4096), "the cursor is there again"
    os.close(terminal)
