from pathlib import Path
from typing import Any

import pytest

from assay.harness.domain import Instance, PatchDiffFinding, Prediction
from assay.harness.engines.fake import FakeEngine, image_name
from assay.harness.errors import AttemptLost, PluginError
from assay.harness.evaluation.evaluate import Task
from assay.harness.patchdiff.contract import Settings
from assay.harness.patchdiff.run import PatchDiffRunner
from assay.harness.runs.store import RunStore
from benches import PLAN, StubBench


def runner(instance: Instance, root: Path, **settings: Any) -> PatchDiffRunner:
    bench = StubBench(FakeEngine({image_name(instance): instance}))
    return PatchDiffRunner(RunStore(root), bench, Settings(("suites",), confirmations=3, **settings))


def task(instance: Instance) -> Task:
    wrong = instance.gold_patch.replace("a + b", "a * b")
    return Task(instance, Prediction(instance_id=instance.id, patch=wrong), PLAN)


def test_result_is_saved_and_known_to_the_next_run(instance: Instance, tmp_path: Path) -> None:
    first = runner(instance, tmp_path)
    assert first.find_known(task(instance)) is None
    (result,) = first.execute([task(instance)])
    assert result.finding is PatchDiffFinding.REGRESSION
    assert runner(instance, tmp_path).find_known(task(instance)) == result


def test_other_settings_make_another_comparison(instance: Instance, tmp_path: Path) -> None:
    runner(instance, tmp_path).execute([task(instance)])
    assert runner(instance, tmp_path, seed=7).find_known(task(instance)) is None


def test_failure_is_not_assessed_and_tried_again(instance: Instance, tmp_path: Path) -> None:
    broken = PatchDiffRunner(RunStore(tmp_path), StubBench(FakeEngine({})), Settings(("suites",)))
    (result,) = broken.execute([task(instance)])
    assert result.finding is PatchDiffFinding.NOT_ASSESSED
    assert result.error
    assert broken.find_known(task(instance)) is None


class LosingCluster:
    slots = 1

    def attempt(self, _do: object) -> None:
        raise AttemptLost("a worker on n1 was lost")


def test_comparison_whose_machine_is_lost_is_not_assessed_and_tried_again(instance: Instance, tmp_path: Path) -> None:
    away = runner(instance, tmp_path)
    away.bench.cluster = LosingCluster()  # type: ignore[misc, assignment]
    (result,) = away.execute([task(instance)])
    assert (result.finding, result.error) == (PatchDiffFinding.NOT_ASSESSED, "a worker on n1 was lost")
    assert away.find_known(task(instance)) is None


def test_unknown_generator_is_refused_before_any_work(instance: Instance, tmp_path: Path) -> None:
    bench = StubBench(FakeEngine({image_name(instance): instance}))
    with pytest.raises(PluginError):
        PatchDiffRunner(RunStore(tmp_path), bench, Settings(("magic",))).execute([task(instance)])
