"""A shared run: each instance once, whoever dies, wakes up or is slow, on a disk whose answers get lost."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from assay.harness.domain import Outcome, Verdict
from assay.harness.errors import UserError
from assay.harness.runs import sharing
from assay.harness.runs.merge import plan_merge
from assay.harness.runs.report import RunReport
from assay.harness.runs.sharing import RunMember
from assay.harness.runs.store import RunStore
from assay.jobs.evaluate import Session
from assay.jobs.workplace import Pair, Workplace
from many_instances import pairs, write

PROGRAM = """
import os, sys
from assay.harness.runs import archives, sharing
sharing.STALE, sharing.LATER, archives.FROM = 1.0, 0.1, int(sys.argv.pop(1))
os.fsync = lambda _file: None
os.sync = lambda: None
from assay.cli.main import main
sys.exit(main())
"""
TWELVE = list(pairs(12))


@pytest.fixture(autouse=True)
def _in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "STALE", 0.3)
    monkeypatch.setattr(sharing, "LATER", 0.02)
    monkeypatch.setattr(os, "fsync", lambda _file: None)
    monkeypatch.setattr(os, "sync", lambda: None)


def session(folder: Path, *, share: bool = True, name: str = "run", **more: object) -> Session:
    return replace(Session(name, folder, Workplace(engine="fake", jobs=2), share=share), **more)


def evaluate(wanted: Session, given: list[Pair] = TWELVE) -> tuple[RunReport, list[Verdict]]:
    return wanted.run(given, [instance.id for instance, _ in given])


def single(folder: Path) -> bytes:
    """Return the report of a single process."""
    evaluate(session(folder / "single", share=False))
    return report_in(folder / "single")


def report_in(folder: Path) -> bytes:
    return (folder / "run/report.json").read_bytes()


def members(folder: Path) -> list[Path]:
    return sorted(path.parent for path in folder.glob("run.members/*/run.json"))


def evaluations(folder: Path) -> list[str]:
    """Return the id of each evaluation that any member made."""
    events = (event for each in members(folder) for event in RunStore(each).events())
    return sorted(event["instance"] for event in events if event["event"] == "finished")


# Processes


def start(folder: Path, seconds: str = "0.15", archived_from: int = 2500) -> "subprocess.Popen[str]":
    given = [
        str(folder / "rows.jsonl"),
        "-p",
        str(folder / "predictions.jsonl"),
        "--run-id",
        "run",
        "--share",
        "-j",
        "2",
    ]
    variables = {"ASSAY_ENGINE": "fake", "ASSAY_FAKE_SECONDS": seconds, "ASSAY_CACHE": str(folder / "cache")}
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(archived_from), "evaluate", *given, "--runs-dir", str(folder), "--json"],
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_until(condition: Callable[[], object]) -> None:
    latest = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < latest, "it did not happen"
        time.sleep(0.01)


@pytest.mark.parametrize(
    "archived_from", [2500, pytest.param(0, marks=pytest.mark.exhaustive)], ids=["folders", "archives"]
)
def test_a_member_is_killed_and_the_others_do_its_work(tmp_path: Path, archived_from: int) -> None:
    write(12, tmp_path)
    victim = start(tmp_path, "30", archived_from)  # it never finishes what it claims
    wait_until(lambda: len([*tmp_path.glob("run.members/claims/[!.]*")]) >= 2)
    others = [start(tmp_path, archived_from=archived_from) for _ in range(2)]
    wait_until(lambda: len(evaluations(tmp_path)) >= 4)
    victim.kill()
    victim.communicate()
    said = [each.communicate(timeout=30) for each in others]
    assert [each.returncode for each in others] == [0, 0], said
    assert json.loads(said[0][0]) == json.loads(said[1][0])
    assert evaluations(tmp_path) == sorted(instance.id for instance, _ in TWELVE), "each once"
    assert report_in(tmp_path) == single(tmp_path).replace(b'"dataset": ""', b'"dataset": "rows"')
    assert len(json.loads((tmp_path / "run/run.json").read_text())["merged"]) == 3


def test_one_that_is_interrupted_frees_its_claims_at_once(tmp_path: Path) -> None:
    write(12, tmp_path)
    process = start(tmp_path, "30")
    wait_until(lambda: len([*tmp_path.glob("run.members/claims/[!.]*")]) >= 2)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130
    (name,) = members(tmp_path)
    assert (name / "heartbeat").read_bytes() == b"ended"
    watcher = RunMember(tmp_path / "run")
    with watcher.alive():
        assert all(watcher.take(each.name) for each in tmp_path.glob("run.members/claims/[!.]*"))


# Whole runs in this process


def wait_for_members(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Have every member wait with its first claim until so many have joined: a late one finds all merged."""
    take, joined, complete = RunMember.take, set[str](), threading.Event()

    def take_together(member: RunMember, name: str) -> bool:
        joined.add(member.name)
        if len(joined) == count:
            complete.set()
        assert complete.wait(60)
        return take(member, name)

    monkeypatch.setattr(RunMember, "take", take_together)


def test_the_report_is_that_of_a_single_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wait_for_members(monkeypatch, 3)
    with ThreadPoolExecutor(3) as pool:
        done = list(pool.map(lambda _: evaluate(session(tmp_path)), range(3)))
    assert [report.resolved_ids for report, _ in done] == [done[0][0].resolved_ids] * 3
    assert report_in(tmp_path) == single(tmp_path)
    assert evaluations(tmp_path) == sorted(instance.id for instance, _ in TWELVE)
    run = json.loads((tmp_path / "run/run.json").read_text())
    assert "--share" not in run["given"]
    assert sorted(run["merged"]) == [each.name for each in members(tmp_path)]


def test_the_same_command_again_evaluates_nothing(tmp_path: Path) -> None:
    evaluate(session(tmp_path))
    before = report_in(tmp_path), (tmp_path / "run/run.json").read_bytes()
    evaluate(session(tmp_path))
    assert (report_in(tmp_path), (tmp_path / "run/run.json").read_bytes()) == before
    assert len(evaluations(tmp_path)) == 12


def test_a_run_that_finished_is_one_for_a_single_process_too(tmp_path: Path) -> None:
    evaluate(session(tmp_path))
    evaluate(session(tmp_path, share=False, rerun_failed=1))
    finished = [each["instance"] for each in RunStore(tmp_path / "run").events() if each["event"] == "finished"]
    assert len(set(finished)) == 12
    with pytest.raises(UserError, match="not made with --share"):
        evaluate(session(tmp_path))


def test_a_patch_that_was_judged_in_another_run_is_not_run_again(tmp_path: Path) -> None:
    evaluate(session(tmp_path, share=False, name="before"))
    evaluate(session(tmp_path))
    assert evaluations(tmp_path) == []
    assert len(RunStore(tmp_path / "run").load_verdicts()) == 12
    shutil.rmtree(tmp_path / "before")
    evaluate(session(tmp_path / "more/..", name="after"))


def test_failures_of_the_infrastructure_are_tried_again_by_the_next_command(tmp_path: Path) -> None:
    given = list(pairs(2))
    name = given[0][0].id
    evaluate(session(tmp_path), given)
    (first,) = members(tmp_path)
    saved = next(RunStore(each) for each in members(tmp_path)).load_verdict(name)
    assert saved is not None
    broken = Verdict(instance_id=name, outcome=Outcome.INFRA_ERROR, reason="the engine was away")
    RunStore(first).save_verdict(saved.model_copy(update={"verdict": broken}))
    report, _ = evaluate(session(tmp_path), given)
    assert report.infra_failure_instances == 0
    assert evaluations(tmp_path).count(name) == 2
    assert RunStore(tmp_path / "run").load_verdict(name) is not None


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"place": Workplace(engine="fake", timeout=5)}, "was made with .*timeout"),
        ({"given": {"--labels": "other"}}, "was made with --labels other"),
    ],
)
def test_members_that_were_given_something_else_are_refused(
    tmp_path: Path, more: dict[str, object], problem: str
) -> None:
    evaluate(session(tmp_path))
    before = members(tmp_path)
    with pytest.raises(UserError, match=problem):
        evaluate(session(tmp_path, **more))
    with pytest.raises(UserError, match="was made with --share"):
        evaluate(session(tmp_path), TWELVE[:5])
    assert members(tmp_path) == before, "who was refused left nothing"


@pytest.mark.parametrize("option", ["--rerun-failed", "--controls", "--fresh"])
def test_what_has_to_know_the_whole_run_is_refused(tmp_path: Path, option: str) -> None:
    name = option.removeprefix("--").replace("-", "_")
    with pytest.raises(UserError, match=f"--share does not go with {option}"):
        evaluate(session(tmp_path, **{name: 1}))
    assert not [*tmp_path.iterdir()]


def test_a_folder_with_something_else_is_refused_and_kept(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run/thesis.txt").write_text("years of work")
    with pytest.raises(UserError, match="not made with --share"):
        evaluate(session(tmp_path))
    assert (tmp_path / "run/thesis.txt").read_text() == "years of work"


# Two members


@pytest.fixture
def two(tmp_path: Path) -> Iterator[tuple[RunMember, RunMember]]:
    one, other = RunMember(tmp_path / "run"), RunMember(tmp_path / "run")
    with one.alive(), other.alive():
        yield one, other


def fall_silent(member: RunMember) -> None:
    """Stop its heartbeat, as a frozen machine does."""
    member._has_ended.set()
    time.sleep(sharing.STALE / 3)


def test_of_many_that_race_for_a_claim_one_gets_it(tmp_path: Path, two: tuple[RunMember, RunMember]) -> None:
    names = [f"acme__calc-{number}" for number in range(100)]
    with ThreadPoolExecutor(16) as pool:
        took = list(
            pool.map(
                lambda work: (work[0], work[1].name, work[1].take(work[0])),
                [(name, member) for name in names for member in two * 4],
            )
        )
    for name in names:
        assert len({owner for taken, owner, has in took if taken == name and has}) == 1
    assert {*two[0].owners()} == {*names}


def test_the_living_keep_their_claims_whatever_their_clock_says(two: tuple[RunMember, RunMember]) -> None:
    one, other = two
    assert one.take("a")
    for _ in range(5):
        for path in one.store.root.iterdir():
            os.utime(path, (0, 0))  # as if its machine, or the server, were in 1970
        time.sleep(sharing.STALE / 3)
        assert not other.take("a")


def test_one_of_many_takes_over_from_the_dead(tmp_path: Path, two: tuple[RunMember, RunMember]) -> None:
    dead, _ = two
    names = [f"acme__calc-{number}" for number in range(30)]
    assert all(dead.take(name) for name in names)
    fall_silent(dead)
    heirs = [RunMember(tmp_path / "run") for _ in range(6)]
    for each in heirs:
        each._beat(b"0") if each.store.root.is_dir() else each.store.root.mkdir()
        each._token.write_text(each.name)
        assert not each.take(names[0]), "it has watched for too short a time"
    time.sleep(sharing.STALE * 1.5)
    for each in heirs:
        each._beat(b"alive")
    with ThreadPoolExecutor(12) as pool:
        list(pool.map(lambda job: job[1].take(job[0]), [(name, each) for name in names for each in heirs]))
    for name in names:
        assert [each.name for each in heirs if each.take(name)] == [dead.owner(name)]
    assert not [*(tmp_path / "run.members/claims").glob(".*")]


def test_one_that_wakes_up_late_takes_nothing_from_its_heir(
    two: tuple[RunMember, RunMember], monkeypatch: pytest.MonkeyPatch
) -> None:
    sleeper, heir = two
    assert sleeper.take("a")
    fall_silent(sleeper)
    assert not heir.take("a")
    time.sleep(sharing.STALE * 1.5)
    assert heir.take("a")
    assert not sleeper.take("a")
    # A third saw the sleeper's claim, and takes it over only now: it gives back what it finds there.
    claim, named_in = sleeper._claims / "a", RunMember._named_in
    monkeypatch.setattr(
        RunMember, "_named_in", lambda self, path: sleeper.name if path == claim else named_in(self, path)
    )
    assert not sleeper._freed(claim, sleeper.name)
    monkeypatch.undo()
    assert heir.owner("a") == heir.name


def test_of_two_that_finished_the_verdict_of_the_owner_counts(tmp_path: Path) -> None:
    given = list(pairs(3))
    evaluate(session(tmp_path), given)
    name = given[0][0].id
    (first,) = members(tmp_path)
    second = first.with_name("late-1")
    shutil.copytree(first, second)
    saved = RunStore(second).load_verdict(name)
    assert saved is not None
    RunStore(second).save_verdict(
        saved.model_copy(update={"verdict": saved.verdict.model_copy(update={"outcome": Outcome.TAMPERED})})
    )
    stores = [RunStore(second), RunStore(first)]
    for owner in (first, second):
        planned = plan_merge(stores, "run", {name: owner})
        assert planned.verdicts[name][0].root == owner
        assert planned.twice == tuple(sorted(instance.id for instance, _ in given))
        assert planned.missing == ()


# A disk whose answers get lost


class Lossy:
    """Calls of the disk that succeed and say that they failed, that fail, or that are seen late; every third time."""

    def __init__(self, call: Callable[..., object], number: int, *, succeeds: bool) -> None:
        self.call, self.number, self.succeeds = call, number, succeeds
        self.calls, self.lost = 0, 0
        self.lock = threading.Lock()

    def __call__(self, *args: object, **more: object) -> object:
        with self.lock:
            self.calls += 1
            is_lost = self.calls % 3 == 0
            self.lost += is_lost
        if not is_lost:
            return self.call(*args, **more)
        if self.succeeds:
            self.call(*args, **more)
        raise OSError(self.number, os.strerror(self.number))


FAULTS = {
    "a claim is made and said to be there": ("link", errno.EEXIST, True),
    "a claim is made and said to be an error": ("link", errno.EIO, True),
    "a claim is not made": ("link", errno.EIO, False),
    "a file has too many names": ("link", errno.EMLINK, False),
    "a rename is done and said to be of nothing": ("rename", errno.ENOENT, True),
    "a rename is not done": ("rename", errno.EIO, False),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_lost_answers_cost_no_instance_and_give_none_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    reference = single(tmp_path)
    dead = RunMember(tmp_path / "run")
    with dead.alive():
        for instance, _ in TWELVE[:6]:
            assert dead.take(instance.id)
    call, number, succeeds = FAULTS[fault]
    lossy = Lossy(getattr(os, call), number, succeeds=succeeds)
    renamed = Path.rename

    def rename(path: Path, target: Path) -> Path:
        is_claim = "claims" in path.parts
        lossy(path, target) if is_claim else renamed(path, target)
        return target

    if call == "link":
        monkeypatch.setattr(sharing.os, "link", lossy)
    else:
        monkeypatch.setattr(Path, "rename", rename)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: evaluate(session(tmp_path)), range(2)))
    assert lossy.lost > 0
    assert report_in(tmp_path) == reference
    done = evaluations(tmp_path)
    assert {*done} == {instance.id for instance, _ in TWELVE}
    assert len(done) <= len(TWELVE) + 1, "a claim that is given back may be lost, too"


def test_names_that_are_seen_late_cost_no_instance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reference, read = single(tmp_path), RunMember._read
    first_seen: dict[Path, float] = {}

    def late(self: RunMember, path: Path) -> bytes:
        """See a file 0.1 s after it was first looked for, unless it is one's own."""
        if self.name in path.parts or read(self, path).decode() == self.name:
            return read(self, path)
        return read(self, path) if time.monotonic() - first_seen.setdefault(path, time.monotonic()) > 0.1 else b""

    monkeypatch.setattr(RunMember, "_read", late)
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: evaluate(session(tmp_path)), range(3)))
    assert report_in(tmp_path) == reference
    assert evaluations(tmp_path) == sorted(instance.id for instance, _ in TWELVE)


def test_a_disk_without_links_is_refused_in_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(*_args: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(sharing.os, "link", link)
    with pytest.raises(UserError, match="needs a file system with hard links"):
        evaluate(session(tmp_path))


def test_a_run_is_replaced_whole(tmp_path: Path) -> None:
    """Several processes that put it together at once leave one of their runs."""
    news = []
    for number in range(20):
        new = tmp_path / f"members/{number}/merged"
        new.mkdir(parents=True)
        for name in "ab":
            (new / name).write_text(str(number))
        news.append(new)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda new: sharing._publish(new, tmp_path / "run"), news))
    assert len({(tmp_path / "run" / name).read_text() for name in "ab"}) == 1
    assert not [*tmp_path.glob("members/*/*")]
