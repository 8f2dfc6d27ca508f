from dataclasses import replace
from pathlib import Path

import pytest

from assay.harness.domain import Instance, Prediction
from assay.harness.engines.fake import FakeEngine, image_name
from assay.harness.evaluation.evaluate import Task
from assay.harness.patchdiff.sides import KeptWork, Side, SideError, SideJob, Sides
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


@pytest.mark.parametrize("other", ["instance", "image", "gold", "edition", "tests", "work", "candidate"])
def test_what_is_known_of_gold_is_that_of_the_same_content(
    instance: Instance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    assert sides_of(instance, instance.gold_patch).find_kept_work("reach", 300).file is None, "nothing is kept"
    first = replace(sides_of(instance, instance.gold_patch), kept=tmp_path)
    known, work = first.find_kept_work("reach", 300), 300
    if other == "instance":
        instance = instance.model_copy(update={"id": "acme__other-1"})
    elif other == "gold":
        instance = instance.model_copy(update={"gold_patch": instance.gold_patch.replace("a + b", "b + a")})
    elif other == "edition":
        monkeypatch.setattr("assay.harness.patchdiff.sides.rooms_edition", lambda *_rooms: "another")
    elif other == "work":
        work = 60
    second = replace(sides_of(instance, "another candidate"), kept=tmp_path)
    if other == "image":
        second = replace(second, image="another")
    elif other == "tests":
        plan = PLAN.model_copy(update={"command": "others"})
        second = replace(second, task=replace(second.task, plan=plan))
    assert (second.find_kept_work("reach", work) == known) is (other == "candidate")


def test_torn_file_keeps_nothing(tmp_path: Path) -> None:
    kept = KeptWork(tmp_path / "work.json")
    assert kept.read("nothing") == "nothing"
    kept.write(["a"])
    assert kept.read("nothing") == ["a"]
    (tmp_path / "work.json").write_bytes(b'["a')
    assert kept.read("nothing") == "nothing"
