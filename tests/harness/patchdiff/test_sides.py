import pytest

from assay.harness.domain import Instance, Prediction
from assay.harness.engines.fake import FakeEngine, image_name
from assay.harness.evaluation.evaluate import Task
from assay.harness.patchdiff.sides import Side, SideError, SideJob, Sides
from benches import PLAN


def sides_of(instance: Instance, patch: str) -> Sides:
    task = Task(instance, Prediction(instance_id=instance.id, patch=patch), PLAN)
    return Sides(task, image_name(instance), FakeEngine({image_name(instance): instance}), pause=0)


def test_each_side_has_its_patch(instance: Instance) -> None:
    sides = sides_of(instance, "candidate")
    assert [sides.patch(side) for side in Side] == ["", instance.gold_patch, instance.gold_patch, "candidate"]


def test_tree_that_cannot_be_made_is_an_error(instance: Instance) -> None:
    sides = sides_of(instance, "no diff at all")
    with pytest.raises(SideError, match="the candidate tree could not be made"):
        sides.run(Side.CANDIDATE, SideJob("true"))


def test_tests_run_on_each_side(instance: Instance) -> None:
    sides = sides_of(instance, instance.gold_patch)
    evidence = sides.test(Side.GOLD, PLAN).evidence
    assert evidence.report.tests
    assert not evidence.error
