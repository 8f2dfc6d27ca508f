from dataclasses import replace
from pathlib import Path
from typing import ClassVar

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


class CountedSides(Sides):
    """Sides on which every job leaves the same file, and each run is noted."""

    ran: ClassVar[list[Side]] = []
    in_time: ClassVar[bool] = True

    def _ran(self, side: Side, job: SideJob) -> tuple[dict[str, bytes], bool]:
        self.ran.append(side)
        return {"0.jsonl": job.command.encode(), "tree/ä": b"\0"}, self.in_time


def counted(instance: Instance, patch: str, kept: Path) -> CountedSides:
    sides = sides_of(instance, patch)
    CountedSides.ran.clear()
    return CountedSides(sides.task, sides.image, sides.engine, kept=kept)


def test_job_without_the_candidates_patch_runs_once_for_all_candidates(instance: Instance, tmp_path: Path) -> None:
    job = SideJob("look", {"a": b"1"}, keep=True)
    left = [counted(instance, "first", tmp_path / "kept").run(side, job) for side in Side]
    second, job = counted(instance, "second", tmp_path / "kept"), replace(job, seconds=1.0)
    assert [second.run(side, job) for side in Side] == left
    assert second.ran == [Side.CANDIDATE]


@pytest.mark.parametrize(
    "other",
    [
        SideJob("look again", {"a": b"1"}, keep=True),
        SideJob("look", {"a": b"2"}, keep=True),
        SideJob("look", {"a": b"1"}),
    ],
    ids=["command", "files", "confirming"],
)
def test_other_job_and_one_that_confirms_run(instance: Instance, tmp_path: Path, other: SideJob) -> None:
    counted(instance, "first", tmp_path).run(Side.GOLD, SideJob("look", {"a": b"1"}, keep=True))
    second = counted(instance, "second", tmp_path)
    second.run(Side.GOLD, other)
    assert second.ran == [Side.GOLD]


def test_job_that_was_out_of_time_runs_again(
    instance: Instance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CountedSides, "in_time", False)
    for _ in range(2):
        sides = counted(instance, "patch", tmp_path)
        sides.run(Side.GOLD, SideJob("look", keep=True))
        assert sides.ran == [Side.GOLD]
