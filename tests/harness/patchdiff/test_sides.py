from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest

from assay.harness.domain import Instance, PatchDiffFinding, Prediction, TestPlan
from assay.harness.engines.fake import FakeEngine, image_name
from assay.harness.engines.faulty import FaultyEngine
from assay.harness.evaluation.evaluate import Evaluation, Task
from assay.harness.patchdiff.assess import assess
from assay.harness.patchdiff.contract import Settings
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


def test_kept_result_counts_with_the_seconds_that_it_took_at_first(
    instance: Instance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.harness.patchdiff.sides.float", lambda _comment: 40.0, raising=False)
    for seconds, counted_as in ((600.0, 40), (5.0, 5)):
        job = SideJob("look", seconds=seconds, keep=True)
        counted(instance, "first", tmp_path).run(Side.GOLD, job)
        second = counted(instance, "second", tmp_path)
        began = second.now()
        second.run(Side.GOLD, job)
        assert second.now() - began == pytest.approx(counted_as, abs=2)
        second.at_once([Side.GOLD, Side.NULL, Side.CANDIDATE], lambda side, sides=second, job=job: sides.run(side, job))
        assert second.now() - began == pytest.approx(2 * counted_as, abs=2), "what runs at once counts once"


@pytest.mark.parametrize("other", ["instance", "image", "gold", "edition", "tests", "none"])
def test_first_look_of_gold_runs_once_for_all_candidates(
    instance: Instance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    first = counted(instance, instance.gold_patch, tmp_path)
    seen, took = first.first_look(Side.GOLD, PLAN)
    plan, image = PLAN.model_copy(update={"limits": PLAN.limits.model_copy(update={"seconds": 7})}), first.image
    if other == "instance":
        instance = instance.model_copy(update={"id": "acme__other-1"})
    elif other == "gold":
        instance = instance.model_copy(update={"gold_patch": instance.gold_patch.replace("a + b", "b + a")})
    elif other == "edition":
        monkeypatch.setattr("assay.harness.patchdiff.sides.edition_of", lambda *_rooms: "another")
    elif other == "image":
        image = "another"
    elif other == "tests":
        plan = plan.model_copy(update={"command": "others"})
    ran: list[Side] = []

    def test(_sides: Sides, side: Side, _plan: TestPlan) -> Evaluation:
        ran.append(side)
        return Evaluation(seen)

    monkeypatch.setattr(CountedSides, "test", test)
    second = replace(counted(instance, "another candidate", tmp_path), image=image)
    again, seconds = second.first_look(Side.GOLD, plan)
    assert again == seen
    assert ran == ([] if other == "none" else [Side.GOLD])
    assert other != "none" or seconds == pytest.approx(took, abs=0.01)


def test_second_candidate_of_an_instance_starts_fewer_containers(instance: Instance, tmp_path: Path) -> None:
    started = []
    for wrong in ("a * b", "a - b"):
        patch = instance.gold_patch.replace("a + b", wrong)
        task = Task(instance, Prediction(instance_id=instance.id, patch=patch), PLAN)
        engine = FaultyEngine(FakeEngine({image_name(instance): instance}), 0)
        sides = Sides(task, image_name(instance), engine, pause=0, kept=tmp_path)
        found = assess(sides, Settings(("suites",), confirmations=3), lambda _instance, _files: PLAN).comparison
        assert found.finding is PatchDiffFinding.REGRESSION
        started.append(engine.calls.count("open"))
    assert started == [13, 10], "the survey of base and gold, and the first look of gold at the failing test"
