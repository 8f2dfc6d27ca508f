"""Processes that end in the middle, by any means: the same command goes on from there, to the same report."""

import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from assay.harness.domain import DatasetRef, Instance, Outcome, Verdict
from assay.harness.engines.fake import FakeEngine
from assay.harness.runs import archives
from assay.harness.runs.manifest import Run
from assay.harness.runs.report import RunReport, build_report
from assay.harness.runs.runner import Runner
from assay.harness.runs.store import RunStore
from benches import StubBench, make_engine, make_task
from killing import killed
from toy import GOLD, make_instances

pytestmark = pytest.mark.slow

WRONG = GOLD.replace("a + b", "a * b")
PATCHES = {"gold": GOLD, "wrong": WRONG, "empty": "", "prose": "I would add a plus sign."}
OUTCOMES = {
    "gold": Outcome.RESOLVED,
    "wrong": Outcome.UNRESOLVED,
    "empty": Outcome.EMPTY_PATCH,
    "prose": Outcome.PATCH_REJECTED,
}


INSTANCES = make_instances(range(3))


class Timeless(RunStore):
    """Knows no durations, so that the order of work is the same every time."""

    def durations(self) -> dict[str, float]:
        return {}


@dataclass
class Command:
    """What ``assay evaluate`` does with a run directory, in this process and with a fake engine."""

    root: Path
    patches: dict[str, str]
    engine: FakeEngine = field(default_factory=lambda: make_engine(INSTANCES))
    alone: bool = False

    def run(self) -> RunReport:
        store = Timeless(self.root, alone=self.alone)
        tasks = [make_task(each, PATCHES[self.patches[each.id]]) for each in INSTANCES]
        with store.lock():
            about = Run(id="run", dataset=DatasetRef(name="d"), model="m", started="now", assay_version="1")
            store.save_run(about, [task.prediction for task in tasks])
            verdicts = Runner(store, StubBench(self.engine), pause=0).execute(tasks)
            report = build_report(verdicts, [each.id for each in INSTANCES], run_id="run")
            store.save_report(report, verdicts)
        return report


def gold_and_others() -> dict[str, str]:
    return dict(zip((each.id for each in INSTANCES), ("gold", "wrong", "gold"), strict=True))


def killed_at(touch: int, command: Command) -> bool:
    """Run a command in a process that kills itself at its n-th touch of the run's folder; whether it came that far."""
    return killed(touch, command.root.parent, command.run)


@pytest.fixture(params=[archives.FROM, 0], ids=["folders", "archives"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of a small one's kind, and of a large one's."""
    monkeypatch.setattr(archives, "FROM", request.param)


@pytest.mark.usefixtures("kind")
def test_killed_at_every_touch_of_the_disk_and_gone_on_it_is_the_same(tmp_path: Path) -> None:
    reference = Command(tmp_path / "reference/run", gold_and_others()).run()
    touch, reused = 0, set[int]()
    died = True
    while died:
        touch += 1
        command = Command(tmp_path / str(touch) / "run", gold_and_others())
        died = killed_at(touch, command)
        saved = [RunStore(command.root).load_verdict(each.id) for each in INSTANCES]
        assert command.run() == reference, touch
        whole = sum(entry is not None for entry in saved)
        assert command.engine.opened == len(INSTANCES) - whole, "only what was unfinished"
        assert leftovers(command.root) == []
        reused.add(whole)
    assert touch > 25
    assert reused == {0, 1, 2, 3}


@pytest.mark.usefixtures("kind")
def test_killed_while_other_content_is_evaluated_nothing_stale_is_told(tmp_path: Path) -> None:
    before, after = gold_and_others(), dict.fromkeys(gold_and_others(), "wrong")
    wanted = Command(tmp_path / "reference/run", after).run()
    touch, died = 0, True
    while died:
        touch += 3
        root = tmp_path / str(touch) / "run"
        Command(root, before).run()
        died = killed_at(touch, Command(root, after))
        store = RunStore(root)
        shown = store.load_report()
        assert shown in (None, wanted) or store.load_predictions()[0].patch == GOLD
        if [event["event"] for event in store.events()].count("planned") == 2:
            kept = [store.load_verdict(each.id) for each in INSTANCES]
            assert {entry.verdict.outcome for entry in kept if entry is not None} <= {Outcome.UNRESOLVED}
        assert Command(root, after).run() == wanted
        assert {store.load_verdict(each.id).verdict.outcome for each in INSTANCES} == {Outcome.UNRESOLVED}  # type: ignore[union-attr]
    assert touch > 25


@pytest.mark.usefixtures("kind")
def test_a_verdict_that_another_run_has_since_replaced_is_not_taken_over(tmp_path: Path) -> None:
    changed = {**gold_and_others(), "acme__calc-0": "wrong"}
    Command(tmp_path / "a", gold_and_others()).run()
    Command(tmp_path / "a", changed).run()
    other = Command(tmp_path / "b", gold_and_others())
    assert other.run().outcomes["acme__calc-0"] is Outcome.RESOLVED
    assert other.engine.opened == 1, "the two others are taken over"


def leftovers(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.name.startswith(".")]


def test_the_lock_of_a_dead_process_holds_nobody_up(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        with RunStore(tmp_path).lock():
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    with RunStore(tmp_path).lock():
        assert (tmp_path / "lock").is_file()


def test_a_full_disk_leaves_the_old_result_whole(tmp_path: Path) -> None:
    """A limit on the size of files stands in for a full disk: the write fails in its middle."""
    root = tmp_path / "run"
    Command(root, gold_and_others()).run()
    old = (root / "instances/acme__calc-0/verdict.json").read_bytes()
    (root / "journal.jsonl").unlink()  # so that it has room for this run's few lines
    program = (
        "import resource\n"
        "from test_crash import *\n"
        "command = Command(Path(sys.argv[1]), gold_and_others())\n"
        "task = make_task(INSTANCES[0])\n"
        "runner = Runner(RunStore(command.root), StubBench(command.engine), fresh=True)\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (300, resource.RLIM_INFINITY))\n"
        "print(runner.execute([task])[0].model_dump_json())\n"
    )
    paths = os.pathsep.join([str(Path(__file__).parents[2] / "support"), str(Path(__file__).parent)])
    done = subprocess.run(
        [sys.executable, "-c", program, str(root)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
        check=True,
    )
    verdict = Verdict.model_validate_json(done.stdout)
    assert verdict.outcome is Outcome.INFRA_ERROR
    assert "could not be written" in verdict.reason
    assert (root / "instances/acme__calc-0/verdict.json").read_bytes() == old
    assert leftovers(root) == []


class CrashError(BaseException):
    """The process is gone: nothing catches this."""


class Runs(RuleBasedStateMachine):
    """Runs that crash anywhere, go on, change their predictions and meet torn files."""

    FROM = archives.FROM

    @initialize()
    def begin(self) -> None:
        self.patched = pytest.MonkeyPatch()
        self.patched.setattr(archives, "FROM", self.FROM)
        self.scratch = tempfile.TemporaryDirectory()
        self.roots = [Path(self.scratch.name) / "runs" / name for name in ("a", "b")]
        self.patches = {root: gold_and_others() for root in self.roots}
        self.done: dict[Path, RunReport | None] = dict.fromkeys(self.roots)

    def teardown(self) -> None:
        if hasattr(self, "scratch"):
            self.scratch.cleanup()
            self.patched.undo()

    def command(self, which: int) -> Command:
        return Command(self.roots[which], self.patches[self.roots[which]])

    @rule(which=st.integers(0, 1))
    def run_to_the_end(self, which: int) -> None:
        command = self.command(which)
        report = command.run()
        wanted = {name: OUTCOMES[patch] for name, patch in command.patches.items()}
        assert report.outcomes == wanted
        self.done[command.root] = report

    @rule(which=st.integers(0, 1), call=st.integers(1, 25))
    def crash_in_the_engine(self, which: int, call: int) -> None:
        command = self.command(which)
        left = call

        def fault(_call: str, _image: str) -> None:
            nonlocal left
            left -= 1
            if left <= 0:  # nor does another thread of the process go on
                raise CrashError

        command.engine.fault = fault
        self.until_crash(command)

    @rule(which=st.integers(0, 1), touch=st.integers(1, 90))
    def crash_at_the_disk(self, which: int, touch: int) -> None:
        command = self.command(which)
        if killed_at(touch, command):
            self.done[command.root] = None
        else:
            self.until_crash(command)

    def until_crash(self, command: Command) -> None:
        self.done[command.root] = None
        with suppress(CrashError):
            self.done[command.root] = command.run()

    @rule(which=st.integers(0, 1), instance=st.sampled_from(INSTANCES), patch=st.sampled_from(sorted(PATCHES)))
    def change_a_prediction(self, which: int, instance: Instance, patch: str) -> None:
        self.patches[self.roots[which]] = {**self.patches[self.roots[which]], instance.id: patch}

    @precondition(lambda self: any(path.is_file() for path in self.roots[0].parent.rglob("*")))
    @rule(data=st.data(), keep=st.floats(0, 0.99))
    def tear_a_file(self, data: st.DataObject, keep: float) -> None:
        runs = self.roots[0].parent
        names = sorted(str(path.relative_to(runs)) for path in runs.rglob("*") if path.is_file())
        torn = runs / data.draw(st.sampled_from(names))
        content = torn.read_bytes()
        torn.write_bytes(content[: int(len(content) * keep)])
        for root in self.roots:
            if torn in (root / "report.json", root / "verdicts.jsonl", root / "predictions.jsonl"):
                self.done[root] = None

    @invariant()
    def what_is_told_is_of_present_content(self) -> None:
        """A summary that can be read whole is the one of the last run that came to its end."""
        for root, report in getattr(self, "done", {}).items():
            shown = RunStore(root).load_report()
            assert shown is None or report is None or shown == report


Runs.TestCase.settings = settings(
    max_examples=80,
    stateful_step_count=12,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
TestRuns = Runs.TestCase


class ArchivedRuns(Runs):
    """The same of runs that are as large ones are."""

    FROM = 0


ArchivedRuns.TestCase.settings = settings(Runs.TestCase.settings, max_examples=20)
TestArchivedRuns = ArchivedRuns.TestCase
