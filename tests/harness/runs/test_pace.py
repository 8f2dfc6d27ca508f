import threading
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from assay.harness.runs.pace import START, Pace


def go() -> bool:
    return False


@given(st.integers(1, 200), st.lists(st.booleans()))
def test_limit_is_between_one_and_the_most(most: int, ends: Sequence[bool]) -> None:
    pace = Pace(most)
    for well in ends:
        with pace.turn(go) as began:
            assert 1 <= pace.limit <= most
            pace.record(began, well=well)
    assert 1 <= pace.limit <= most


def test_successes_reach_the_most_quickly_and_one_failure_halves_it() -> None:
    pace = Pace(64)
    for _ in range(4):
        with pace.turn(go) as began:
            pace.record(began, well=True)
    assert pace.limit == 64 == START * 2**4
    with pace.turn(go) as began:
        pace.record(began, well=False)
    assert pace.limit == 32
    with pace.turn(go) as began:
        pace.record(began, well=True)
    assert pace.limit == 33


def test_failures_of_attempts_that_began_before_count_once() -> None:
    pace = Pace(4)
    with pace.turn(go) as one, pace.turn(go) as other:
        pace.record(one, well=False)
        pace.record(other, well=False)
    assert pace.limit == 2


def test_no_more_than_the_limit_have_a_turn_at_once() -> None:
    pace, at_once, most, lock = Pace(3), 0, 0, threading.Lock()

    def work() -> None:
        nonlocal at_once, most
        with pace.turn(go) as began:
            with lock:
                at_once += 1
                most = max(most, at_once)
            threading.Event().wait(0.002)
            with lock:
                at_once -= 1
            pace.record(began, well=True)

    threads = [threading.Thread(target=work) for _ in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 3


def test_stopped_run_waits_for_no_turn() -> None:
    pace = Pace(1)
    with pace.turn(go), pace.turn(lambda: True):
        pass


def test_what_a_person_allows_is_the_limit_at_once() -> None:
    pace = Pace(2)
    pace.allow(64)
    assert pace.limit == 64
    pace.allow(3)
    with pace.turn(go) as began:
        pace.record(began, well=True)
    assert pace.limit == 3
