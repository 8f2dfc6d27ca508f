"""Repetitions of unresolved evaluations, on an engine that acts flaky tests out."""

import json
from pathlib import Path

from assay.harness.domain import Instance, Outcome, Status, Verdict
from assay.harness.errors import EngineError
from assay.harness.runs.manifest import Run
from assay.harness.runs.regrade import regrade_run
from assay.harness.runs.rerun import mark_repeated, rerun, suspects
from assay.harness.runs.runner import Progress, Runner
from assay.harness.runs.store import RunStore
from benches import StubBench, make_engine, make_task
from toy import GOLD, KEPT, make_instances

P, F = Status.PASSED, Status.FAILED


class Rerunning:
    """A run on the fake engine whose tests pass and fail as each test says."""

    def __init__(self, root: Path, found: list[Instance], flaky: dict[str, list[bool]]) -> None:
        self.engine = make_engine(found, flaky=flaky)
        self.store = RunStore(root / "run")
        self.runner = Runner(self.store, StubBench(self.engine), jobs=2, pause=0)
        self.tasks = [make_task(each) for each in found]

    def execute(self, times: int = 0) -> list[Verdict]:
        verdicts = self.runner.execute(self.tasks)
        for number in range(1, times + 1):
            pending = suspects(self.tasks, verdicts)
            if pending:
                rerun(self.runner, pending, number, Progress())
            verdicts = mark_repeated(self.store, self.tasks, verdicts)
        return verdicts


def test_reruns_stop_once_every_failing_test_has_passed(instance: Instance, tmp_path: Path) -> None:
    run = Rerunning(tmp_path, [instance], {KEPT: [False, False, True, True]})
    (verdict,) = run.execute(times=5)
    assert (verdict.outcome, verdict.broken, verdict.flaky) == (Outcome.UNRESOLVED, (KEPT,), (KEPT,))
    assert run.engine.opened == 3
    folder = tmp_path / "run/instances/acme__calc-1"
    assert sorted(path.name for path in (folder / "reruns").iterdir()) == ["1", "2"]
    assert json.loads((folder / "reruns/2/evidence.json").read_text())["report"]["tests"][KEPT] == "passed"
    assert json.loads((folder / "evidence.json").read_text())["report"]["tests"][KEPT] == "failed"
    assert json.loads((folder / "verdict.json").read_text())["verdict"]["flaky"] == [KEPT]


def test_a_test_that_always_fails_is_not_flaky(instance: Instance, tmp_path: Path) -> None:
    run = Rerunning(tmp_path, [instance], {KEPT: [False]})
    (verdict,) = run.execute(times=2)
    assert (verdict.flaky, verdict.flags) == ((), ())
    assert run.engine.opened == 3


def test_what_is_resolved_is_not_rerun(tmp_path: Path) -> None:
    found = make_instances(range(4))
    run = Rerunning(tmp_path, found, {})
    assert all(verdict.resolved for verdict in run.execute(times=2))
    assert run.engine.opened == 4


def test_the_same_command_again_reruns_nothing_and_a_larger_number_goes_on(instance: Instance, tmp_path: Path) -> None:
    first = Rerunning(tmp_path, [instance], {KEPT: [False]})
    first.execute(times=2)
    again = Rerunning(tmp_path, [instance], {KEPT: [True]})
    assert again.execute(times=2)[0].flaky == ()
    assert again.engine.opened == 0
    assert again.execute(times=3)[0].flaky == (KEPT,)
    assert again.engine.opened == 1


def test_a_rerun_that_fails_for_the_engine_says_nothing(instance: Instance, tmp_path: Path) -> None:
    run = Rerunning(tmp_path, [instance], {KEPT: [False]})
    run.execute()

    def fault(_call: str, _image: str) -> None:
        raise EngineError("gone")

    run.engine.fault = fault
    (verdict,) = run.execute(times=1)
    assert (verdict.outcome, verdict.flaky) == (Outcome.UNRESOLVED, ())


def test_no_other_run_takes_a_rerun_for_its_verdict(instance: Instance, tmp_path: Path) -> None:
    run = Rerunning(tmp_path, [instance], {KEPT: [False, True]})
    run.execute(times=1)
    other = Runner(RunStore(tmp_path / "other"), StubBench(run.engine))
    assert other.execute(run.tasks)[0].outcome is Outcome.UNRESOLVED
    assert run.engine.opened == 2


def test_a_new_evaluation_forgets_the_reruns_of_the_old(instance: Instance, tmp_path: Path) -> None:
    run = Rerunning(tmp_path, [instance], {KEPT: [False, True, False]})
    run.execute(times=1)
    run.tasks = [make_task(instance, GOLD.replace("a + b", "b + a"))]
    (verdict,) = run.execute()
    assert (verdict.outcome, verdict.flaky) == (Outcome.UNRESOLVED, ())
    assert not (tmp_path / "run/instances/acme__calc-1/reruns").exists()


def test_grading_again_keeps_the_mark(instance: Instance, tmp_path: Path) -> None:
    run = Rerunning(tmp_path, [instance], {KEPT: [False, True]})
    about = Run(id="run", dataset=instance.dataset, model="", started="", assay_version="")
    run.store.save_run(about, [task.prediction for task in run.tasks])
    run.execute(times=1)
    again = regrade_run(run.store)
    assert again.changed == ()
    assert again.report.flaky_ids == [instance.id]


def test_runs_that_are_alone_really_run(instance: Instance, tmp_path: Path) -> None:
    engine = make_engine([instance])
    task = make_task(instance)

    for name, opened in (("gold-1", 1), ("gold-2", 2), ("gold-1", 2), ("other", 3)):
        Runner(RunStore(tmp_path / name, alone=name != "other"), StubBench(engine)).execute([task])
        assert engine.opened == opened
