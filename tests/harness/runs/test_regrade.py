"""A run graded again from its evidence: the same verdicts, and every figure of the report kept."""

from collections.abc import Callable
from pathlib import Path

import pytest

from assay.harness.domain import (
    DatasetRef,
    GeneratorResult,
    Instance,
    PatchDiffFinding,
    PatchDiffResult,
    Prediction,
    Verdict,
)
from assay.harness.engines.fake import FakeEngine, image_name
from assay.harness.evaluation.evaluate import Task
from assay.harness.runs.manifest import Run
from assay.harness.runs.patchdiff_figures import patchdiff_figures
from assay.harness.runs.regrade import regrade_run
from assay.harness.runs.runner import Runner
from assay.harness.runs.saved import SavedPatchDiff
from assay.harness.runs.store import RunStore
from benches import PLAN, StubBench


@pytest.fixture
def run(make_instance: Callable[..., Instance], tmp_path: Path) -> tuple[RunStore, list[Verdict]]:
    """Two resolved evaluations of three instances that were asked for."""
    found = [make_instance(id=f"acme__calc-{number}") for number in (1, 2)]
    engine = FakeEngine({image_name(each): each for each in found})
    tasks = [Task(each, Prediction(instance_id=each.id, patch=each.gold_patch), PLAN) for each in found]
    store = RunStore(tmp_path / "run")
    about = Run(
        id="run",
        dataset=DatasetRef(name="rows"),
        model="m",
        started="",
        assay_version="1",
        instance_ids=["acme__calc-1", "acme__calc-2", "acme__calc-3"],
    )
    store.save_run(about, [task.prediction for task in tasks])
    return store, Runner(store, StubBench(engine)).execute(tasks)


def comparison(instance_id: str, finding: PatchDiffFinding) -> PatchDiffResult:
    return PatchDiffResult(
        instance_id=instance_id, model="m", finding=finding, generators=(GeneratorResult(name="suites"),)
    )


def test_patchdiff_figures_survive_and_follow_the_verdicts(run: tuple[RunStore, list[Verdict]]) -> None:
    store, verdicts = run
    found = [
        comparison("acme__calc-1", PatchDiffFinding.REGRESSION),
        comparison("acme__calc-2", PatchDiffFinding.NO_DIFFERENCE_FOUND),
    ]
    for each in found:
        store.save_patchdiff(SavedPatchDiff(key="k", comparison=each), {})
    figures = patchdiff_figures(found, len(verdicts))
    store.save_report(store.summarise(verdicts, patchdiff=figures), verdicts)
    again = regrade_run(store)
    assert again.changed == ()
    assert again.report.patchdiff == figures
    assert store.load_report() == again.report

    evidence = store.root / "instances/acme__calc-1/evidence.json"
    evidence.write_text(
        evidence.read_text().replace('"passed"', '"failed"').replace('"exit_code": 0', '"exit_code": 1')
    )
    figures_now = regrade_run(store).report.patchdiff
    assert figures_now is not None
    assert list(figures_now.finding_of) == ["acme__calc-2"], "a patch that is resolved no more is not compared"


def test_the_figures_of_controls_and_of_instances_without_a_prediction_are_kept(
    run: tuple[RunStore, list[Verdict]],
) -> None:
    store, verdicts = run
    report = store.summarise(verdicts, unfit={"acme__calc-2": "null is resolved"})
    store.save_report(report, verdicts)
    assert report.incomplete_ids == ["acme__calc-3"]
    assert regrade_run(store).report == report


def test_every_reader_of_an_interrupted_run_counts_the_same_instances_as_incomplete(
    run: tuple[RunStore, list[Verdict]],
) -> None:
    store, _ = run
    store.forget("acme__calc-2")
    report = store.report()
    assert report.incomplete_ids == ["acme__calc-2", "acme__calc-3"]
    assert (report.total_instances, report.submitted_instances) == (3, 1)
    assert regrade_run(store).report == report
