"""A run graded again from its evidence: the same verdicts, and every figure of the report kept."""

from pathlib import Path

import pytest

from assay.harness.domain import DatasetRef, GeneratorResult, PatchDiffFinding, PatchDiffResult, Verdict
from assay.harness.runs.manifest import Run
from assay.harness.runs.patchdiff_figures import patchdiff_figures
from assay.harness.runs.regrade import regrade_run
from assay.harness.runs.runner import Runner
from assay.harness.runs.saved import SavedPatchDiff
from assay.harness.runs.store import RunStore
from benches import StubBench, make_engine, make_task
from toy import make_instances

Evaluated = tuple[RunStore, list[Verdict]]


@pytest.fixture
def run(tmp_path: Path) -> Evaluated:
    """Two resolved evaluations of three instances that were asked for."""
    found = make_instances((1, 2))
    tasks = [make_task(each) for each in found]
    store = RunStore(tmp_path / "run")
    ids = ["acme__calc-1", "acme__calc-2", "acme__calc-3"]
    dataset = DatasetRef(name="rows")
    about = Run(id="run", dataset=dataset, model="m", started="", assay_version="1", instance_ids=ids)
    store.save_run(about, [task.prediction for task in tasks])
    return store, Runner(store, StubBench(make_engine(found))).execute(tasks)


def comparison(instance_id: str, finding: PatchDiffFinding) -> PatchDiffResult:
    suites = GeneratorResult(name="suites")
    return PatchDiffResult(instance_id=instance_id, model="m", finding=finding, generators=(suites,))


def test_patchdiff_figures_survive_and_follow_the_verdicts(run: Evaluated) -> None:
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


def test_the_figures_of_controls_and_of_instances_without_a_prediction_are_kept(run: Evaluated) -> None:
    store, verdicts = run
    report = store.summarise(verdicts, unfit={"acme__calc-2": "null is resolved"})
    store.save_report(report, verdicts)
    assert report.incomplete_ids == ["acme__calc-3"]
    assert regrade_run(store).report == report


def test_every_reader_of_an_interrupted_run_counts_the_same_instances_as_incomplete(run: Evaluated) -> None:
    store, _ = run
    store.forget("acme__calc-2")
    report = store.report()
    assert report.incomplete_ids == ["acme__calc-2", "acme__calc-3"]
    assert (report.total_instances, report.submitted_instances) == (3, 1)
    assert regrade_run(store).report == report
