"""Orders to a run at work: what its crew does, and whom it obeys."""

import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assay.harness.errors import UserError
from assay.harness.runs import control
from assay.harness.runs.control import POLL, Steering, give_order, is_at_work, listen
from assay.harness.runs.crew import Crew
from assay.harness.runs.store import CONTROL, RunStore
from squares import Squares

NOBODY = 65534


class Counted(Squares):
    """Squares that end one by one, when they are let."""

    def __init__(self) -> None:
        super().__init__(self._wait)
        self.at_work: list[int] = []
        self.let = threading.Semaphore(0)

    def _wait(self, item: int, _number: int) -> int:
        self.at_work.append(item)
        assert self.let.acquire(timeout=60)
        return item * item


def becomes(what: Callable[[], object], seconds: float = 30) -> bool:
    latest = time.monotonic() + seconds
    while not what() and time.monotonic() < latest:
        time.sleep(0.005)
    return bool(what())


@pytest.fixture
def crew() -> Iterator[tuple[Counted, Steering, list[list[int]]]]:
    """A crew that does ten items, two at once, in a thread of its own."""
    work, steering, done = Counted(), Steering(), list[list[int]]()
    running = Crew(2, lambda: None, 0, steering)
    thread = threading.Thread(target=lambda: done.append(running.complete(work, range(10))))
    thread.start()
    assert becomes(lambda: len(work.at_work) == 2)
    yield work, steering, done
    steering.obey("resume", "")
    work.let.release(100)
    thread.join(60)
    assert done == [[item * item for item in range(10)]], "nothing is lost"


def test_paused_crew_starts_nothing_and_goes_on_where_it_was(crew: tuple[Counted, Steering, list[list[int]]]) -> None:
    work, steering, _ = crew
    steering.obey("pause", "")
    work.let.release(2)
    assert becomes(lambda: sorted(work.saved) == [0, 1]), "what was at work ends, and is saved"
    time.sleep(0.3)
    assert len(work.at_work) == 2
    steering.obey("resume", "")
    assert becomes(lambda: len(work.at_work) == 4)


def test_jobs_grow_at_once_and_shrink_as_items_end(crew: tuple[Counted, Steering, list[list[int]]]) -> None:
    work, steering, _ = crew
    steering.obey("jobs", "4")
    assert becomes(lambda: len(work.at_work) == 4)
    steering.obey("jobs", "1")
    work.let.release(3)
    assert becomes(lambda: len(work.saved) == 3)
    time.sleep(0.3)
    assert len(work.at_work) == 4
    work.let.release(1)
    assert becomes(lambda: len(work.at_work) == 5)


def test_item_with_a_result_is_done_again_and_no_other(crew: tuple[Counted, Steering, list[list[int]]]) -> None:
    work, steering, _ = crew
    work.let.release(2)
    assert becomes(lambda: len(work.at_work) == 4)
    for name in ("item 0", "item 3", "item 9", "item 99", "item 0"):
        steering.obey("retry", name)
    work.let.release(20)
    assert becomes(lambda: len(work.saved) == 11)
    assert [item for item in sorted(work.saved) if work.saved.count(item) > 1] == [0, 0]


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    (tmp_path / "run").mkdir()
    (tmp_path / "run/predictions.jsonl").touch()
    return RunStore(tmp_path / "run")


def test_order_is_obeyed_noted_and_refused_when_nobody_listens(store: RunStore) -> None:
    for _ in range(2):
        with pytest.raises(UserError, match="is not at work"):
            give_order(store, "pause")
        with listen(store) as steering:
            assert is_at_work(store)
            assert (store.root / CONTROL).stat().st_mode & 0o777 == 0o600
            give_order(store, "pause")
            give_order(store, "jobs", "7")
            assert becomes(lambda: steering.jobs == 7)
            assert steering.paused
        assert not is_at_work(store)
        assert not (store.root / CONTROL).exists()
    assert [(each["event"], each["value"]) for each in store.events()] == [("paused", ""), ("jobs", "7")] * 2


def test_file_that_a_killed_run_left_is_nobody_s(store: RunStore) -> None:
    (store.root / CONTROL).write_text("")
    assert not is_at_work(store)
    with pytest.raises(UserError, match="is not at work"):
        give_order(store, "stop")
    with store.lock(), listen(store):
        assert is_at_work(store)


@pytest.mark.parametrize(
    ("order", "value"), [("burn", ""), ("jobs", "0"), ("jobs", "x"), ("jobs", "²"), ("retry", "x")]
)
def test_wrong_order_is_never_written(store: RunStore, order: str, value: str) -> None:
    with listen(store), pytest.raises(UserError):
        give_order(store, order, value)
    assert store.events() == []


def as_nobody(do: Callable[[], object]) -> int:
    """Do something in a process of another user; return 0 if it succeeded, 1 for a UserError, 2 for another error."""
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setuid(NOBODY)
        try:
            do()
        except UserError:
            os._exit(1)
        except BaseException:
            os._exit(2)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_another_user_steers_no_run_and_lures_nobody() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)  # they may even put files there
        store = RunStore(Path(folder))
        with listen(store) as steering:
            assert as_nobody(lambda: give_order(store, "pause")) == 1
            assert as_nobody(lambda: is_at_work(store) or os._exit(9)) == 0
            (store.root / "journal.jsonl").touch()
            forged = Path(folder) / "forged"
            assert as_nobody(lambda: forged.write_text('["stop", ""]\n') and forged.replace(store.root / CONTROL)) == 0
            with pytest.raises(UserError):
                give_order(store, "pause")  # it would be written into their file
            time.sleep(2 * POLL)
            assert not steering.paused
        (Path(folder) / "mine").write_text("kept")
        (Path(folder) / "mine").chmod(0o600)
        (store.root / CONTROL).symlink_to(Path(folder) / "mine")
        with pytest.raises(UserError, match="another user's run"):
            give_order(store, "pause")
        assert (Path(folder) / "mine").read_text() == "kept"
        assert control.SAFE & os.O_NOFOLLOW
