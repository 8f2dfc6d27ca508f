"""The pool of cards: each has one holder at most, in any order of work and failure, and is free again afterwards."""

import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.domain import Card
from assay.harness.engines import cards
from assay.harness.engines.cards import CardPool, CardWatch, HostCard, check_cards, hold_cards
from assay.harness.engines.fake import FakeEngine
from assay.harness.errors import EngineError, EnvironmentFailure, RunStopped

UNUSED = CardWatch(lambda _card, _settle: [], lambda _card: "")


def make_cards(number: int) -> list[HostCard]:
    return [HostCard(Card(name=f"acme.test/gpu={each}")) for each in range(number)]


def make_pool(number: int, locks: Path, watch: CardWatch = UNUSED) -> CardPool:
    return CardPool(lambda: make_cards(number), watch, locks)


def names(held: Sequence[HostCard]) -> list[str]:
    return [each.card.name[-1] for each in held]


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cards, "LOOK", 0.02)


@pytest.fixture
def two(tmp_path: Path) -> CardPool:
    return make_pool(2, tmp_path)


class Failed(Exception):
    pass


@given(
    number=st.integers(1, 4),
    work=st.lists(st.tuples(st.integers(1, 4), st.sampled_from(["", "tests", "fault", "users"])), max_size=12),
    pools=st.integers(1, 2),
)
def test_no_card_has_two_holders_and_none_is_lost(number: int, work: list[tuple[int, str]], pools: int) -> None:
    """Pools of one folder are as those of two processes: a lock belongs to an open file."""
    holders: dict[str, int] = {}
    trouble = threading.local()
    watch = CardWatch(
        lambda _card, _settle: ["process 1 (other)"] if getattr(trouble, "is", "") == "users" else [],
        lambda _card: "fell off the bus" if getattr(trouble, "is", "") == "fault" else "",
    )
    lock = threading.Lock()

    def do(place: int, wanted: int, ends: str) -> int:
        try:
            with made[place % pools].hold(wanted) as held:
                with lock:
                    for name in names(held):
                        assert name not in holders, "two holders of one card"
                        holders[name] = place
                    assert len(set(names(held))) == wanted
                threading.Event().wait(0.001)
                with lock:
                    for name in names(held):
                        del holders[name]
                trouble.__dict__["is"] = ends
                if ends == "tests":
                    raise Failed
                return wanted
        except (Failed, EngineError, EnvironmentFailure) as error:
            return -1 if isinstance(error, EnvironmentFailure) else 0
        finally:
            trouble.__dict__["is"] = ""

    with TemporaryDirectory() as folder, ThreadPoolExecutor(8) as threads:
        made = [make_pool(number, Path(folder), watch) for _ in range(pools)]
        done = [threads.submit(do, place, *each) for place, each in enumerate(work)]
        for (wanted, ends), each in zip(work, done, strict=True):
            assert each.result(30) == (-1 if wanted > number else 0 if ends else wanted)
        with made[0].hold(number) as held:
            assert sorted(names(held)) == [str(each) for each in range(number)]


def test_more_than_there_are_is_refused_at_once_with_both_counts(two: CardPool) -> None:
    with two.hold(2), pytest.raises(EnvironmentFailure, match="need 3 GPUs, and this run can give 2 "):
        two.check(3)
    with pytest.raises(EnvironmentFailure, match="need 1 GPU, and this run can give 0 "):
        check_cards(FakeEngine({}), 1)


def test_who_waits_for_many_is_not_passed_by_those_who_want_few(two: CardPool) -> None:
    order: list[str] = []

    def hold(name: str, wanted: int) -> None:
        with two.hold(wanted):
            order.append(name)

    with two.hold(1):
        many = threading.Thread(target=hold, args=("many", 2))
        many.start()
        while not two._waiting:
            threading.Event().wait(0.001)
        few = threading.Thread(target=hold, args=("few", 1))
        few.start()
        few.join(0.2)
        assert order == []
    many.join(10)
    few.join(10)
    assert order == ["many", "few"]


def test_waiting_ends_with_the_run_and_with_its_own_evaluation(two: CardPool) -> None:
    asked = threading.Event()
    with two.hold(2), ThreadPoolExecutor(2) as threads:
        waiting = threads.submit(two.hold(1, asked.is_set).__enter__)
        asked.set()
        with pytest.raises(RunStopped):
            waiting.result(10)
        other = threads.submit(two.hold(1).__enter__)
        two.end()
        with pytest.raises(RunStopped):
            other.result(10)


HOLD = """
import fcntl, sys
file = open(sys.argv[1], "a")
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


def test_a_card_that_another_process_holds_is_not_given(two: CardPool, tmp_path: Path) -> None:
    file = tmp_path / "acme.test_gpu=0"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, file], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with two.hold(1) as held:
            assert names(held) == ["1"]
        other.communicate()
    with two.hold(1) as held:
        assert names(held) == ["0"]


@pytest.fixture
def trouble() -> dict[str, str]:
    return {}


@pytest.fixture
def failing_pool(tmp_path: Path, trouble: dict[str, str]) -> CardPool:
    faults = CardWatch(
        lambda card, _settle: ["process 7 (cc1)"] if trouble.get(card.card.name[-1]) == "used" else [],
        lambda card: "has lost its device node /dev/x" if trouble.get(card.card.name[-1]) == "gone" else "",
    )
    return make_pool(2, tmp_path, faults)


@pytest.mark.parametrize(("what", "says"), [("used", "is used by process 7 .cc1.,"), ("gone", "has lost its device")])
def test_a_card_in_doubt_is_no_fault_of_the_patch_and_others_are_given_first(
    failing_pool: CardPool, trouble: dict[str, str], what: str, says: str
) -> None:
    trouble["0"] = what
    with pytest.raises(EngineError, match=f"card acme.test/gpu=0 {says}.* before"), failing_pool.hold(1):
        raise AssertionError
    with failing_pool.hold(1) as held:
        assert names(held) == ["1"]
    del trouble["0"]
    with failing_pool.hold(2):
        pass
    with failing_pool.hold(1) as held:
        assert names(held) == ["0"], "no doubt is left"
    with pytest.raises(EngineError, match="after the container was removed"), failing_pool.hold(1):
        trouble["0"] = what


def test_what_fails_while_cards_are_held_is_not_hidden_by_what_is_found_afterwards(
    failing_pool: CardPool, trouble: dict[str, str]
) -> None:
    def fail() -> None:
        with failing_pool.hold(1):
            trouble["0"] = "gone"
            raise Failed

    with pytest.raises(Failed):
        fail()


def test_an_engine_that_holds_cards_already_takes_no_more(two: CardPool) -> None:
    engine = FakeEngine({})
    engine.cards = two
    with hold_cards(engine, 0) as plain:
        assert plain is engine
    with hold_cards(engine, 2) as outer, hold_cards(outer, 2) as inner:
        assert inner is outer
        assert names(inner.held) == ["0", "1"]
    assert engine.held == ()
