"""Faults of the engine at every call: the right class, nothing left behind, no verdict lost."""

import gc
import random
import threading
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import pytest

from assay.harness.domain import Limits, Outcome, TestPlan, Verdict
from assay.harness.engines.base import Engine
from assay.harness.engines.docker import DockerEngine
from assay.harness.engines.fake import FakeEngine
from assay.harness.engines.faulty import FaultyEngine
from assay.harness.engines.owner import OWNER, this_process
from assay.harness.evaluation.evaluate import Task
from assay.harness.runs.attempt import ATTEMPTS
from assay.harness.runs.crew import Progress
from assay.harness.runs.runner import Runner
from assay.harness.runs.store import RunStore
from benches import StubBench, make_engine, make_task
from toy import FIXED, GOLD, make_instance, make_instances

pytestmark = pytest.mark.slow

KINDS = ["error", "timeout", "cut"]
FAR = 10**6


def run(root: Path, engine: Engine, tasks: list[Task], jobs: int = 1) -> list[Verdict]:
    return Runner(RunStore(root), StubBench(engine), jobs, pause=0).execute(tasks)


def faulty(fake: FakeEngine, fail_at: int | Collection[int], kind: str) -> FaultyEngine:
    return FaultyEngine(fake, fail_at, kind, seconds=0.001)


@pytest.mark.parametrize("kind", KINDS)
def test_one_fault_at_any_call_changes_no_verdict(tmp_path: Path, kind: str) -> None:
    found = make_instances(range(3))
    fake = make_engine(found)
    patches = (None, GOLD.replace("a + b", "a * b"), None)
    tasks = [make_task(each, patch) for each, patch in zip(found, patches, strict=True)]
    met: Counter[str] = Counter()
    for number in range(1, 1000):
        engine = faulty(fake, number, kind)
        outcomes = [verdict.outcome for verdict in run(tmp_path / str(number) / "run", engine, tasks)]
        assert outcomes == [Outcome.RESOLVED, Outcome.UNRESOLVED, Outcome.RESOLVED], engine.failed
        assert not fake.alive
        met.update(engine.failed)
        if not engine.failed:
            break
    assert number == len(engine.calls) + 1
    assert set(met) == {"open", "exec", "end", "get", "remove", "find_image", "reap"}


@pytest.mark.parametrize("kind", KINDS)
def test_an_engine_that_stays_broken_costs_no_finished_verdict(tmp_path: Path, kind: str) -> None:
    found = make_instances(range(2))
    fake = make_engine(found)
    tasks = [make_task(each) for each in found]
    number, outcomes = 0, [Outcome.INFRA_ERROR]
    while Outcome.INFRA_ERROR in outcomes:
        number += 1
        root = tmp_path / str(number) / "run"
        verdicts = run(root, faulty(fake, range(number, FAR), kind), tasks)
        outcomes = [verdict.outcome for verdict in verdicts]
        assert set(outcomes) <= {Outcome.RESOLVED, Outcome.INFRA_ERROR}
        assert all("on purpose" in verdict.reason for verdict in verdicts if not verdict.resolved)
        assert not fake.alive
        again = FaultyEngine(fake, 0)
        assert all(verdict.resolved for verdict in run(root, again, tasks))
        assert again.calls.count("open") == outcomes.count(Outcome.INFRA_ERROR)
    assert number > 10


@pytest.fixture
def traced() -> Iterator[Callable[[], int]]:
    """Bytes in use, as the interpreter counts them."""

    def in_use() -> int:
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    yield in_use
    tracemalloc.stop()


def test_hundreds_of_evaluations_with_faults_lose_and_double_nothing(tmp_path: Path, traced: Callable[[], int]) -> None:
    tests = tuple(f"tests/test_calc.py::test_number_{number}" for number in range(100))
    found = make_instances(range(300), pass_to_pass=tests)
    fake = make_engine(found)
    tasks = [make_task(each) for each in found]
    chance = random.Random(7)
    sick = faulty(fake, {number for number in range(100_000) if chance.random() < 0.05}, "cut")
    store = RunStore(tmp_path / "run")
    run(tmp_path / "elsewhere/run", fake, tasks[:50], 4)  # brings into memory what stays there
    before, tried = traced(), list[int]()
    while not tried or tried[-1]:
        verdicts = run(store.root, sick, tasks, 4)
        assert [verdict.instance_id for verdict in verdicts] == [task.instance.id for task in tasks]
        assert {verdict.outcome for verdict in verdicts} <= {Outcome.RESOLVED, Outcome.INFRA_ERROR}
        tried.append(sum(not verdict.resolved for verdict in verdicts))
        assert not fake.alive
    del verdicts
    # One evaluation's output and report alone are 15 kB; the interpreter's table of names may double meanwhile.
    assert traced() - before < 10_000_000
    assert tracemalloc.get_traced_memory()[1] - before < 40_000_000
    assert 0 < tried[0] < 30, "5 % of the calls fail, so some evaluations fail three times and most do not"
    finished = Counter(event["instance"] for event in store.events() if event.get("outcome") == Outcome.RESOLVED)
    assert set(finished) == {each.id for each in found}
    assert set(finished.values()) == {1}
    assert len(sick.failed) > 90


BARE = make_instance(fail_to_pass=(FIXED,), pass_to_pass=(), gold_patch="", test_patch="")
DOCKER_PLAN = TestPlan(
    workdir="/tmp",
    user="nobody",
    command=f"""mkdir -p /tmp/report; echo '{{"{FIXED}": "passed"}}' > /tmp/report/report.json""",
    report_path="/tmp/report/report.json",
    report_format="status_json",
    limits=Limits(memory_mb=128, pids=64, seconds=120),
)


@pytest.mark.docker
@pytest.mark.parametrize("kind", [KINDS[0], *(pytest.param(kind, marks=pytest.mark.exhaustive) for kind in KINDS[1:])])
def test_one_fault_at_any_call_of_a_real_engine(
    docker_engine: DockerEngine, toolchain_image: str, tmp_path: Path, kind: str
) -> None:
    task = make_task(BARE, plan=DOCKER_PLAN, runs_empty=True)
    for number in range(1, 100):
        engine = FaultyEngine(docker_engine, number, kind)
        store = RunStore(tmp_path / str(number) / "run")
        (verdict,) = Runner(store, StubBench(engine, toolchain_image), pause=0).execute([task])
        assert verdict.resolved, (engine.failed, verdict.reason)
        assert mine(docker_engine) == []
        if not engine.failed:
            break
    assert number == len(engine.calls) + 1


@pytest.mark.docker
def test_a_container_that_somebody_removes_is_evaluated_again(
    docker_engine: DockerEngine, toolchain_image: str, tmp_path: Path
) -> None:
    plan = DOCKER_PLAN.model_copy(update={"command": DOCKER_PLAN.command + "\nsleep 5\n"})
    task = make_task(BARE, plan=plan, runs_empty=True)
    store = RunStore(tmp_path / "run")
    taken: list[str] = []

    def steal() -> None:
        while not mine(docker_engine, status="running"):
            time.sleep(0.02)
        time.sleep(0.5)  # until its tests are at work
        taken.extend(mine(docker_engine))
        for container in taken:
            docker_engine._client.remove_container(container, force=True)

    thief = threading.Thread(target=steal)
    progress = Progress(started=lambda _task: thief.start())
    (verdict,) = Runner(store, StubBench(docker_engine, toolchain_image)).execute([task], progress)
    thief.join()
    assert len(taken) == 1
    assert verdict.resolved, verdict.reason
    starts = [event for event in store.events() if event["event"] == "started"]
    assert 1 < len(starts) <= ATTEMPTS
    assert mine(docker_engine) == []


def mine(engine: DockerEngine, **wanted: str) -> list[str]:
    found = engine._client.containers(all=True, filters={"label": f"{OWNER}={this_process()}", **wanted})
    return [each["Id"] for each in found]
