import os
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from assay.harness.domain import Instance, Outcome, TestPlan
from assay.harness.engines.fake import FakeEngine, image_name
from assay.harness.errors import EngineError, EnvironmentFailure, RunStopped
from assay.harness.evaluation.evaluate import Task
from assay.harness.grading.grade import grade
from assay.harness.runs import regrade
from assay.harness.runs import runner as runner_module
from assay.harness.runs.attempt import ATTEMPTS
from assay.harness.runs.runner import Runner
from assay.harness.runs.store import RunStore
from benches import PLAN, StubBench, make_engine, make_task
from toy import make_instances


def runner(root: Path, engine: FakeEngine, jobs: int = 1, **changes: object) -> Runner:
    return Runner(RunStore(root / "run"), StubBench(engine), jobs, pause=0, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("jobs", [1, 4])
def test_verdicts_come_in_the_order_of_the_tasks(tmp_path: Path, jobs: int) -> None:
    found = make_instances(range(12))
    tasks = [make_task(each) for each in reversed(found)]
    verdicts = runner(tmp_path, make_engine(found), jobs).execute(tasks)
    assert [verdict.instance_id for verdict in verdicts] == [task.instance.id for task in tasks]
    assert all(verdict.resolved for verdict in verdicts)


def test_no_patch_at_all_is_run_as_a_control_and_not_otherwise(instance: Instance, tmp_path: Path) -> None:
    engine = make_engine([instance])
    assert runner(tmp_path / "a", engine).execute([make_task(instance, "")])[0].outcome is Outcome.EMPTY_PATCH
    assert engine.opened == 0
    control = make_task(instance, "", runs_empty=True)
    assert runner(tmp_path / "b", engine).execute([control])[0].outcome is Outcome.UNRESOLVED
    assert engine.opened == 1


@pytest.mark.parametrize(
    ("patch", "outcome"), [("", Outcome.EMPTY_PATCH), ("\n", Outcome.EMPTY_PATCH), ("no diff", Outcome.PATCH_REJECTED)]
)
def test_patch_that_needs_no_container_builds_no_image(
    instance: Instance, tmp_path: Path, patch: str, outcome: Outcome
) -> None:
    def build(_instance: Instance) -> str:
        raise EnvironmentFailure("an image was asked for")

    bench = StubBench(make_engine([instance]), build)
    for given, wanted in ((patch, outcome), (instance.gold_patch, Outcome.ENV_ERROR)):
        tasks = [make_task(instance, given)]
        assert Runner(RunStore(tmp_path / "run"), bench, pause=0).execute(tasks)[0].outcome is wanted


def test_a_second_run_does_only_what_is_missing(tmp_path: Path) -> None:
    found = make_instances(range(3))
    engine = make_engine(found)
    runner(tmp_path, engine).execute([make_task(each) for each in found[:2]])
    assert engine.opened == 2
    verdicts = runner(tmp_path, engine).execute([make_task(each) for each in found])
    assert engine.opened == 3
    assert all(verdict.resolved for verdict in verdicts)


def test_a_verdict_is_not_reused_for_another_patch(instance: Instance, tmp_path: Path) -> None:
    engine = make_engine([instance])
    runner(tmp_path, engine).execute([make_task(instance)])
    wrong = make_task(instance, instance.gold_patch.replace("a + b", "a * b"))
    assert runner(tmp_path, engine).execute([wrong])[0].outcome is Outcome.UNRESOLVED
    assert engine.opened == 2


def test_the_same_content_is_evaluated_once_across_runs(instance: Instance, tmp_path: Path) -> None:
    engine = make_engine([instance])
    runner(tmp_path, engine).execute([make_task(instance)])
    other = Runner(RunStore(tmp_path / "other"), StubBench(engine))
    assert other.execute([make_task(instance)])[0].resolved
    assert engine.opened == 1
    assert (tmp_path / "other/instances/acme__calc-1/evidence.json").is_file()


def test_fresh_evaluates_again(instance: Instance, tmp_path: Path) -> None:
    engine = make_engine([instance])
    runner(tmp_path, engine).execute([make_task(instance)])
    runner(tmp_path, engine, fresh=True).execute([make_task(instance)])
    assert engine.opened == 2


@pytest.mark.parametrize("call", ["open", "put", "exec", "get", "oom_killed", "remove"])
def test_a_passing_fault_of_any_engine_call_is_tried_again(instance: Instance, tmp_path: Path, call: str) -> None:
    engine = make_engine([instance])
    faults = [EngineError("cut stream"), EngineError("cut stream")]

    def fault(name: str, _image: str) -> None:
        if name == call and faults:
            raise faults.pop()

    engine.fault = fault
    assert runner(tmp_path, engine).execute([make_task(instance)])[0].resolved
    assert not engine.alive


def test_a_lasting_fault_is_an_infrastructure_error_and_run_again_next_time(instance: Instance, tmp_path: Path) -> None:
    engine = make_engine([instance])

    def fault(name: str, _image: str) -> None:
        if name == "exec":
            raise EngineError("the connection broke")

    engine.fault = fault
    verdict = runner(tmp_path, engine).execute([make_task(instance)])[0]
    assert (verdict.outcome, verdict.reason) == (Outcome.INFRA_ERROR, "the connection broke")
    assert engine.opened == ATTEMPTS
    engine.fault = lambda _call, _image: None
    assert runner(tmp_path, engine).execute([make_task(instance)])[0].resolved


def test_an_environment_that_cannot_be_built_is_not_tried_again(instance: Instance, tmp_path: Path) -> None:
    tries = []

    def prepare(each: Instance) -> str:
        tries.append(each.id)
        raise EnvironmentFailure("no such package", log_path="/logs/x", tail="the last lines")

    bench = StubBench(make_engine([instance]), prepare)
    (verdict,) = Runner(RunStore(tmp_path / "run"), bench).execute([make_task(instance)])
    assert verdict.outcome is Outcome.ENV_ERROR
    assert "/logs/x" in verdict.reason
    assert len(tries) == 1
    assert (tmp_path / "run/instances/acme__calc-1/test_output.txt").read_text() == "the last lines"


def test_the_reason_of_an_env_error_is_its_cause_and_its_output_the_whole_log(
    instance: Instance, tmp_path: Path
) -> None:
    log = tmp_path / "build.log"
    log.write_text("all of it\n")
    cause = "there is no version of " + "a" * 80

    def prepare(_each: Instance) -> str:
        raise EnvironmentFailure(f"\nno image: {cause}", log_path=str(log), tail="hint: do this", cause=cause)

    bench = StubBench(make_engine([instance]), prepare)
    store = RunStore(tmp_path / "run")
    (verdict,) = Runner(store, bench).execute([make_task(instance)])
    assert (verdict.reason, len(verdict.reason)) == (f"{cause[:79]}…", 80)
    assert store.evaluations.file(instance.id, "test_output.txt") == b"all of it\n"
    evidence = store.load_evidence(instance.id)
    assert evidence is not None
    assert f"no image: {cause} (log: {log})" in evidence.error


def test_expected_tests_that_cannot_run_are_an_env_error_before_any_container(
    instance: Instance, tmp_path: Path
) -> None:
    class Aiming(StubBench):
        def aim(self, plan: TestPlan, _instance: Instance) -> TestPlan:
            raise EnvironmentFailure("expected tests are nowhere in the tree: tests/gone.py::x")

    engine, asked = make_engine([instance]), list[Instance]()

    def name(one: Instance) -> str:
        asked.append(one)
        return image_name(one)

    (verdict,) = Runner(RunStore(tmp_path / "run"), Aiming(engine, name)).execute([make_task(instance)])

    assert (verdict.outcome, engine.opened, asked) == (Outcome.ENV_ERROR, 0, [])
    assert verdict.reason == "expected tests are nowhere in the tree: tests/gone.py::x"


def test_a_mistake_of_ours_costs_one_verdict_only(tmp_path: Path) -> None:
    found = make_instances(range(2))
    engine = make_engine(found)

    def fault(name: str, image: str) -> None:
        if name == "get" and image.endswith("0:1"):
            raise ZeroDivisionError

    engine.fault = fault
    outcomes = [v.outcome for v in runner(tmp_path, engine).execute([make_task(each) for each in found])]
    assert outcomes == [Outcome.INFRA_ERROR, Outcome.RESOLVED]


def test_a_result_that_cannot_be_written_is_an_infrastructure_error(tmp_path: Path) -> None:
    found = make_instances(range(2))
    run = runner(tmp_path, make_engine(found))
    blocked = tmp_path / "run/instances"
    blocked.mkdir(parents=True)
    (blocked / found[0].id).write_text("a file where a folder should be")
    verdicts = run.execute([make_task(each) for each in found])
    assert [verdict.outcome for verdict in verdicts] == [Outcome.INFRA_ERROR, Outcome.RESOLVED]
    assert "could not be written" in verdicts[0].reason


def test_the_longest_start_first(tmp_path: Path) -> None:
    found = make_instances(range(3))
    order: list[str] = []
    engine = make_engine(found)
    run = runner(tmp_path, engine)
    run.store.save_durations({found[0].id: 1.0, found[1].id: 9.0})
    engine.fault = lambda call, image: order.append(image) if call == "open" else None
    run.execute([make_task(each) for each in found])
    assert order == [image_name(found[number]) for number in (2, 1, 0)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_stops_soon_and_the_next_run_goes_on(tmp_path: Path, number: int) -> None:
    found = make_instances(range(8))
    engine = make_engine(found)
    engine.seconds = 600
    timer = threading.Timer(0.3, os.kill, [os.getpid(), number])
    timer.start()
    began = time.monotonic()
    with pytest.raises(RunStopped):
        runner(tmp_path, engine, 4).execute([make_task(each) for each in found])
    assert time.monotonic() - began < 60
    assert not engine.alive
    assert not list((tmp_path / "run").glob("instances/*/verdict.json"))
    again = make_engine(found)
    assert all(v.resolved for v in runner(tmp_path, again, 4).execute([make_task(each) for each in found]))


def test_newer_grading_grades_saved_evidence_again_without_a_container(
    tmp_path: Path, instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = make_engine([instance])
    runner(tmp_path, engine).execute([make_task(instance)])
    monkeypatch.setattr(runner_module, "grading_edition", lambda: "newer")
    monkeypatch.setattr(regrade, "grading_edition", lambda: "newer")
    graded = []
    monkeypatch.setattr(regrade, "grade", lambda *args: graded.append(args) or grade(*args))
    for _ in range(2):
        (verdict,) = runner(tmp_path, engine).execute([make_task(instance)])
        assert verdict.outcome is Outcome.RESOLVED
    assert (engine.opened, len(graded)) == (1, 1)


def test_newer_grading_evaluates_again_what_has_lost_its_evidence(
    tmp_path: Path, instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = make_engine([instance])
    runner(tmp_path, engine).execute([make_task(instance)])
    (evidence,) = tmp_path.glob("**/evidence.json")
    evidence.unlink()
    monkeypatch.setattr(runner_module, "grading_edition", lambda: "newer")
    runner(tmp_path, engine).execute([make_task(instance)])
    assert engine.opened == 2


def test_an_early_stop_is_never_taken_for_a_full_evaluation_which_serves_both(
    instance: Instance, tmp_path: Path
) -> None:
    engine = make_engine([instance])
    targets = ("tests/test_calc.py", "b.py")
    plan = PLAN.model_copy(update={"command": "pytest tests/test_calc.py b.py", "targets": targets})
    full = make_task(instance, instance.gold_patch.replace("a + b", "a * b"), plan)
    early = replace(full, fail_fast=True)

    def judge(task: Task, folder: str) -> tuple[bool, int]:
        before = engine.opened
        (verdict,) = runner(tmp_path / folder, engine).execute([task])
        assert verdict.outcome is Outcome.UNRESOLVED
        return "fail_fast" in verdict.flags, engine.opened - before

    stopped, opened = judge(early, "one")
    assert (stopped, opened >= 1) == (True, True)
    assert judge(early, "one") == (True, 0)
    assert judge(full, "one") == (False, 1)
    assert judge(early, "one") == (False, 0)
