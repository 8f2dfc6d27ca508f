"""Runs on disk with evaluations that are graded here, without an engine."""

from pathlib import Path

import pytest

from assay.harness.domain import DatasetRef, Prediction, TestPlan, Verdict
from assay.harness.evaluation.evaluate import Evaluation, Task
from assay.harness.exports.base import RunToExport
from assay.harness.exports.metadata import SubmissionMetadata
from assay.harness.runs.manifest import Run, RunKind
from assay.harness.runs.report import Graded
from assay.harness.runs.store import RunStore
from exported import Made


@pytest.fixture
def make_run(tmp_path: Path) -> Made:
    """Save evaluations as a run; a patch is the gold patch, written otherwise, unless it is given."""

    def make(
        *each: Graded,
        missing: tuple[str, ...] = (),
        patches: dict[str, str] | None = None,
        outputs: dict[str, str] | None = None,
        settings: dict[str, str] | None = None,
        given: dict[str, str] | None = None,
        model: str = "acme/model-1",
        kind: RunKind = RunKind.EVALUATE,
        metadata: SubmissionMetadata | None = None,
        trajectories: dict[str, Path] | None = None,
    ) -> RunToExport:
        store = RunStore(tmp_path / "runs" / "nightly")
        run = Run(
            id="nightly",
            kind=kind,
            dataset=DatasetRef(name="rows"),
            model=model,
            started="2026-11-23T01:02:03+00:00",
            assay_version="1",
            instance_ids=[*(one.instance.id for one in each), *missing],
            settings=settings or {},
            given=given or {},
        )
        own = {
            one.instance.id: one.instance.gold_patch.replace("+    return", "+    # so\n+    return") for one in each
        }
        own |= patches or {}
        predictions = [Prediction(instance_id=name, model=model, patch=patch) for name, patch in own.items()]
        (store.root / "run.json").unlink(missing_ok=True)  # of the run that the folder held before
        store.save_run(run, predictions)
        for one, prediction in zip(each, predictions, strict=True):
            task = Task(one.instance, prediction, TestPlan(command="pytest"))
            output = (outputs or {}).get(one.instance.id, "").encode()
            store.save(task, Evaluation(one.evidence, prediction.patch, output), one.verdict, "key")
        verdicts: list[Verdict] = [one.verdict for one in each]
        store.save_report(store.summarise(verdicts), verdicts)
        return RunToExport(store, metadata or SubmissionMetadata(), trajectories or {})

    return make
