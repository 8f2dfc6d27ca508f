"""A crew: known items, all pending work, retries, and an orderly end at a signal."""

import os
import pty
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assay.harness.errors import RunStopped
from assay.harness.runs.attempt import ATTEMPTS
from assay.harness.runs.crew import INTERRUPTED, Crew, Progress
from squares import Squares

pytestmark = pytest.mark.slow

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """A crew that was interrupted leaves its handlers; the next test must not meet them."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def crew_of(jobs: int = 2, abort: Callable[[], None] = lambda: None, pause: float = 0) -> Crew:
    return Crew(jobs, abort, pause)


def interrupt_when(condition: Callable[[], bool], number: int = signal.SIGINT) -> None:
    def wait() -> None:
        while not condition():
            time.sleep(0.005)
        time.sleep(0.1)  # until the main thread, too, has nothing left but to wait
        os.kill(os.getpid(), number)

    threading.Thread(target=wait, daemon=True).start()


@pytest.mark.parametrize("jobs", [1, 3])
def test_results_come_in_the_order_of_the_items(jobs: int) -> None:
    assert crew_of(jobs).complete(Squares(), range(7)) == [0, 1, 4, 9, 16, 25, 36]


def test_known_items_are_not_done_again_unless_fresh() -> None:
    watched: list[tuple[int, bool]] = []
    progress = Progress[int, int](finished=lambda result, known: watched.append((result, known)))
    work = Squares(found={1: 100})
    assert crew_of(1).complete(work, range(3), progress=progress) == [0, 100, 4]
    assert work.saved == [0, 2]
    assert sorted(watched) == [(0, False), (4, False), (100, True)]
    assert crew_of(1).complete(work, range(3), fresh=True) == [0, 1, 4]


def test_an_exception_of_the_work_reaches_the_caller() -> None:
    def fail(_item: int, _number: int) -> int:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        crew_of().complete(Squares(fail), range(3))


def test_signal_handlers_are_the_crew_s_while_it_works_and_restored_afterwards() -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    meanwhile: list[object] = []

    def look(item: int, _number: int) -> int:
        meanwhile.extend(signal.getsignal(number) for number in SIGNALS)
        return item

    crew_of().complete(Squares(look), range(1))
    assert not set(meanwhile) & set(before)
    assert [signal.getsignal(number) for number in SIGNALS] == before


@pytest.mark.parametrize(
    ("good_from", "attempts"), [(1, [1]), (2, [1, 2]), (ATTEMPTS, [1, 2, 3]), (ATTEMPTS + 1, [1, 2, 3])]
)
def test_failed_attempts_are_repeated_up_to_the_limit(good_from: int, attempts: list[int]) -> None:
    made: list[int] = []

    def once(_item: int, number: int) -> int:
        made.append(number)
        return number

    work = Squares(once, lambda number: number < good_from)
    assert crew_of().complete(work, [0]) == [attempts[-1]]
    assert made == attempts


def test_the_pause_grows_with_each_attempt() -> None:
    made: list[float] = []

    def once(item: int, _number: int) -> int:
        made.append(time.monotonic())
        return item

    crew_of(pause=0.05).complete(Squares(once, lambda _attempt: True), [0])
    assert made[1] - made[0] >= 0.05
    assert made[2] - made[1] >= 0.1


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_signal_aborts_what_is_at_work_and_saves_and_starts_nothing_more(number: int, jobs: int) -> None:
    aborted, begun, ended = threading.Event(), [], []

    def wait(item: int, _number: int) -> int:
        begun.append(item)
        ended.append(aborted.wait(600))
        return item

    work = Squares(wait)
    interrupt_when(lambda: len(begun) == jobs, number)
    with pytest.raises(RunStopped, match="interrupted"):
        crew_of(jobs, aborted.set).complete(work, range(50))
    assert begun == list(range(jobs))
    assert ended == [True] * jobs
    assert work.saved == [], "results of aborted work mean nothing"


@pytest.mark.parametrize("moment", ["in the attempt", "in the pause before the next"])
def test_nothing_is_retried_once_told_to_stop(moment: str) -> None:
    aborted, made, asked = threading.Event(), [], []

    def once(item: int, number: int) -> int:
        made.append(number)
        if moment == "in the attempt":
            aborted.wait(600)
        return item

    def retries(_attempt: int) -> bool:
        asked.append(made[-1])
        return True

    interrupt_when(lambda: bool(made if moment == "in the attempt" else asked))
    with pytest.raises(RunStopped):
        crew_of(abort=aborted.set, pause=600).complete(Squares(once, retries), [0])
    assert made == [1]
    assert asked == ([] if moment == "in the attempt" else [1]), "an aborted attempt is no failure"


PROGRAM = """
import sys, time
from assay.harness.runs import crew
from squares import Squares

crew.PATIENCE = 600  # only a second signal ends it early

def wait(seconds, _number):
    print("begun", flush=True)
    time.sleep(seconds)
    print("over", flush=True)
    return seconds

crew.Crew(1, lambda: None).complete(Squares(wait), [float(sys.argv[1])])
"""


@pytest.mark.parametrize(("seconds", "printed"), [("1", "over\n"), ("600", "")])
def test_a_second_signal_waits_a_moment_for_the_work_and_restores_the_terminal(seconds: str, printed: str) -> None:
    terminal, stderr = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, seconds],
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        cwd=Path(__file__).parents[2] / "support",
    )
    os.close(stderr)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    for _ in range(2):
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=300)
    assert process.returncode == 130
    assert rest == printed
    shown = os.read(terminal, 4096)
    assert b"\x1b[?25h" in shown, "the cursor is visible again"
    assert f"assay: {INTERRUPTED}".encode() in shown
    os.close(terminal)
