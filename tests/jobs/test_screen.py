"""What people say against the instances and patches of a run."""

from pathlib import Path

import pytest

from annotated import grade, judge, make_run
from assay.harness.errors import UserError
from assay.harness.metrics.annotations import Annotation
from assay.harness.metrics.screening import Reproach, Screening
from assay.harness.runs.store import RunStore
from assay.jobs.screen import screen_run


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return make_run(tmp_path, 4)


def numbers(found: Screening, kind: Reproach) -> str:
    return "".join(name[-1] for name in found.reproaches[kind].resolved_ids)


def test_verdicts_of_people_go_before_what_patchdiff_suspects(store: RunStore) -> None:
    assert numbers(screen_run(store), Reproach.SUSPICIOUS) == "1234"
    people: list[Annotation] = [judge(1, "partial"), judge(2, "right"), judge(3, None), judge(4, "undecidable")]
    found = screen_run(store, people=people)
    assert (numbers(found, Reproach.REFUTED), numbers(found, Reproach.SUSPICIOUS)) == ("1", "34")
    assert (found.together.resolved, found.adjudicated, found.annotated) == (3, 4, 0)
    assert Reproach.UNCLEAR in found.not_looked_for


def test_a_verdict_on_another_patch_or_a_part_of_the_differences_says_nothing(store: RunStore) -> None:
    people = [judge(1, "partial", patch="0" * 16), judge(2, "right", probe="another"), judge(3, "right")]
    found = screen_run(store, people=people)
    assert (numbers(found, Reproach.REFUTED), numbers(found, Reproach.SUSPICIOUS)) == ("", "124")


def test_grades_are_no_part_of_together(store: RunStore) -> None:
    people = [grade(1, clarity=2), grade(2, tests=3), grade(3, other=True), grade(4)]
    found = screen_run(store, people=people)
    assert (numbers(found, Reproach.UNCLEAR), numbers(found, Reproach.UNFAIR)) == ("1", "23")
    assert found.together == screen_run(store).together
    assert Reproach.REFUTED not in found.not_looked_for, "PatchDiff did"


def test_answers_about_another_run_are_refused(store: RunStore) -> None:
    with pytest.raises(UserError, match="none of the answers is about this run"):
        screen_run(store, people=[grade(9), judge(1, "partial", patch="0" * 16)])
