"""Evaluations of instances that need cards: what they are given, what their verdicts say, and whose fault what is."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from assay.harness.domain import Card, Evidence, Instance, Limits, Outcome, TestedTree, Verdict, WorkloadRun
from assay.harness.engines import cards
from assay.harness.engines.base import Box, BoxSpec, ExecResult
from assay.harness.engines.cards import LEFT_ON_CARD, CardPool, CardWatch, HostCard
from assay.harness.engines.fake import FakeBox, FakeEngine
from assay.harness.engines.warm import WarmEngine
from assay.harness.evaluation.evaluate import Task
from assay.harness.grading.grade import grade
from assay.harness.runs import ray_cluster
from assay.harness.runs.ray_cluster import RayCluster
from assay.harness.runs.runner import Runner
from assay.harness.runs.store import RunStore
from benches import PLAN, StubBench, make_engine, make_task
from toy import make_instances

UNUSED = CardWatch(lambda _card, _settle: [], lambda _card: "")


class CountingEngine(FakeEngine):
    """Notes which cards are in use at once, and how many boxes had each number of them."""

    def __init__(self, instances: dict[str, Instance]) -> None:
        super().__init__(instances, seconds=0.01)
        self.in_use: set[str] = set()
        self.most = 0

    @contextmanager
    def open(self, spec: BoxSpec) -> Iterator[Box]:
        names = {each.card.name for each in spec.cards}
        assert not names & self.in_use
        assert len(names) == spec.limits.gpus
        self.in_use |= names
        self.most = max(self.most, len(self.in_use))
        with super().open(spec) as box:
            yield box
        self.in_use -= names


def ask(instance: Instance, gpus: int, **changes: Any) -> Task:
    return make_task(instance, plan=PLAN.model_copy(update={"limits": Limits(gpus=gpus)}), **changes)


def give(engine: FakeEngine, number: int, folder: Path, watch: CardWatch = UNUSED) -> FakeEngine:
    found = [HostCard(Card(name=f"GPU-{each}", model="H200", driver="570.1", runtime="test")) for each in range(number)]
    engine.cards = CardPool(lambda: found, watch, folder)
    return engine


def run(tasks: list[Task], engine: FakeEngine, folder: Path, jobs: int = 1) -> list[Verdict]:
    return Runner(RunStore(folder / "run"), StubBench(engine), jobs, pause=0).execute(tasks)


def test_cards_are_given_exclusively_and_verdicts_name_them(tmp_path: Path) -> None:
    found = make_instances(range(12))
    engine = CountingEngine(make_engine(found).instances)
    tasks = [ask(each, number % 3) for number, each in enumerate(found)]
    verdicts = run(tasks, give(engine, 2, tmp_path), tmp_path, jobs=6)
    assert all(verdict.resolved for verdict in verdicts)
    assert [len(verdict.cards) for verdict in verdicts] == [number % 3 for number in range(12)]
    assert verdicts[2].cards == ("H200 GPU-0, driver 570.1, test", "H200 GPU-1, driver 570.1, test")
    assert engine.most == 2


@pytest.mark.parametrize("there", [2, 0, None])
def test_an_instance_that_needs_more_than_there_are_is_refused_before_an_image_is_built(
    instance: Instance, tmp_path: Path, there: int | None
) -> None:
    engine = make_engine([instance])
    bench = StubBench(engine, name=lambda _each: pytest.fail("an image was asked for"))
    if there is not None:
        give(engine, there, tmp_path)
    (verdict,) = Runner(RunStore(tmp_path / "run"), bench, pause=0).execute([ask(instance, 3)])
    assert verdict.outcome is Outcome.ENV_ERROR
    assert f"its tests need 3 GPUs, and this run can give {there or 0} (assay doctor says why)" in verdict.reason
    assert "\n" not in verdict.reason


@pytest.mark.parametrize("fault", ["", "fell off the bus"])
def test_a_card_that_fails_or_is_used_by_others_is_never_the_patchs_fault(
    instance: Instance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    """Somebody else fills the first card while a wrong patch is tested, and it is tested again on the other."""
    monkeypatch.setattr(cards, "SETTLE", 0.0)
    engine = make_engine([instance])
    is_broken = lambda card: engine.opened > 0 and card.card.name == "GPU-0"  # noqa: E731
    watch = CardWatch(
        lambda card, _settle: ["process 9 (train)"] if not fault and is_broken(card) else [],
        lambda card: fault if is_broken(card) else "",
    )
    task = ask(instance, 1, patch="")
    (verdict,) = run([make_again(task)], give(engine, 2, tmp_path / "two", watch), tmp_path / "two")
    assert (verdict.outcome, verdict.cards) == (Outcome.UNRESOLVED, ("H200 GPU-1, driver 570.1, test",))
    engine.opened = 0
    (verdict,) = run([make_again(task)], give(engine, 1, tmp_path / "one", watch), tmp_path / "one")
    assert verdict.outcome is Outcome.INFRA_ERROR
    assert "card GPU-0 " + (fault or "is used by process 9 (train)") in verdict.reason


def make_again(task: Task) -> Task:
    return Task(task.instance, task.prediction, task.plan, runs_empty=True)


def test_a_process_that_tests_leave_on_their_card_is_a_flag(instance: Instance, tmp_path: Path) -> None:
    engine = make_engine([instance])
    watch = CardWatch(lambda _card, settle: [] if settle else ["process 3 (sleep)"], lambda _card: "")
    (verdict,) = run([ask(instance, 1)], give(engine, 1, tmp_path, watch), tmp_path)
    assert verdict.resolved
    assert LEFT_ON_CARD in verdict.flags
    assert "not_enforced:card_separation" not in verdict.flags
    engine.separates_cards = False
    (verdict,) = run([ask(instance, 1)], engine, tmp_path / "again")
    assert "not_enforced:card_separation" in verdict.flags


def test_a_container_that_an_engine_starts_without_its_card_judges_no_patch(
    instance: Instance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Podman 4 passes over the names of CDI that it is asked for."""
    engine = give(make_engine([instance]), 0, tmp_path)
    assert engine.cards is not None
    engine.cards.cards = (HostCard(Card(name="GPU-0"), nodes=("/dev/nvidia3",)),)
    missing = ExecResult(2, b"ls: cannot access '/dev/nvidia3': No such file or directory\n", 0.0)
    found = FakeBox.exec
    monkeypatch.setattr(
        FakeBox, "exec", lambda box, command, **given: missing if command[0] == "ls" else found(box, command, **given)
    )
    (verdict,) = run([ask(instance, 1)], engine, tmp_path)
    assert verdict.outcome is Outcome.INFRA_ERROR
    assert "without its cards: ls: cannot access '/dev/nvidia3'" in verdict.reason


def test_a_verdict_on_speed_says_on_which_card_it_was_measured(instance: Instance) -> None:
    card = Card(name="GPU-0", model="H200", driver="570.1")
    evidence = {"instance_id": instance.id, "apply": {"status": "applied"}, "cards": (card,)}
    workload = {TestedTree.BASE: (WorkloadRun(seconds=1.0),)}
    timed = Evidence.model_validate({**evidence, "workload": workload})
    assert grade(instance, timed).reason.endswith("; timed on H200 GPU-0, driver 570.1")
    assert "timed on" not in grade(instance, Evidence.model_validate(evidence)).reason


def test_no_box_with_a_card_waits_ahead(instance: Instance) -> None:
    engine = make_engine([instance])
    warm = WarmEngine(engine, 2, 2)
    try:
        warm.expect(BoxSpec(next(iter(engine.instances)), Limits(gpus=1)))
        with warm.open(BoxSpec(next(iter(engine.instances)), Limits(gpus=1), cards=[HostCard(Card(name="0"))])):
            time.sleep(0.1)
        assert (warm.waiting, engine.opened) == (0, 1)
    finally:
        warm.end()


@pytest.mark.parametrize(
    ("gpus", "resources", "slots"),
    [
        (0, {"engine_slots": 4.0, "GPU": 2.0}, 4),
        (1, {"engine_slots": 4.0, "GPU": 2.0}, 2),
        (2, {"engine_slots": 4.0}, 0),
    ],
)
def test_a_slot_of_ray_has_its_cards_or_is_none(
    monkeypatch: pytest.MonkeyPatch, gpus: int, resources: dict[str, float], slots: int
) -> None:
    asked: list[dict[str, Any]] = []
    worker = SimpleNamespace(ready=SimpleNamespace(remote=object))

    def options(**given: Any) -> Any:
        asked.append(given)
        return SimpleNamespace(remote=lambda _open: worker)

    ray = SimpleNamespace(cluster_resources=lambda: resources, remote=lambda _kind: SimpleNamespace(options=options))
    monkeypatch.setattr(ray_cluster, "_connect", lambda _address: ray)
    monkeypatch.setattr(RayCluster, "_gather", RayCluster._start_missing)
    monkeypatch.setattr(ray_cluster.atexit, "register", lambda _function: None)
    open_bench: Callable[[], Any] = threading.Event
    if not slots:
        with pytest.raises(ray_cluster.EngineUnavailable):
            RayCluster(open_bench, gpus=gpus)
        return
    cluster = RayCluster(open_bench, gpus=gpus)
    cluster._gathering.join(10)
    assert cluster.slots == slots == len(asked)
    assert {each["num_gpus"] for each in asked} == {gpus}
