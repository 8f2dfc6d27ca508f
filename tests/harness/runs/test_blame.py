"""The blame where nothing passes, with an engine that acts instances out."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from assay.harness.domain import Instance, Outcome, Rule, Verdict
from assay.harness.engines.fake import FakeEngine
from assay.harness.errors import EngineError
from assay.harness.grading.grade import grade
from assay.harness.runs.attempt import evaluate_once
from assay.harness.runs.report import build_report
from assay.harness.runs.runner import Runner
from assay.harness.runs.store import RunStore
from benches import StubBench, make_engine, make_task
from toy import FIXED, KEPT, make_instance

WRONG = "diff --git a/calc.py b/calc.py\n--- a/calc.py\n+++ b/calc.py\n@@ -1 +1 @@\n-def add(a, b):\n+def add(a, {}):\n"


def judge(engine: FakeEngine, instance: Instance, patch: str | None = None, **settings: Any) -> Verdict:
    task = make_task(instance, patch, **settings)
    return grade(instance, evaluate_once(task, StubBench(engine), {}).evidence)


def broken(instance: Instance) -> FakeEngine:
    """Return an engine in which no test of the instance ever passes."""
    return make_engine([instance], flaky=dict.fromkeys((*instance.fail_to_pass, *instance.pass_to_pass), (False,)))


def test_patches_in_an_image_where_gold_passes_nothing_are_its_fault_after_one_more_run(instance: Instance) -> None:
    engine = broken(instance)
    verdicts = [judge(engine, instance, WRONG.format(name)) for name in "abcd"]
    assert {each.outcome for each in verdicts} == {Outcome.ENV_ERROR}
    assert {each.reward for each in verdicts} == {None}
    assert engine.opened == 4 + 1
    assert "nothing passes here; with gold: 1 of 1 unfixed, 1 of 1 broken" in verdicts[0].reason


def test_patches_that_break_a_sound_image_stay_theirs_after_one_more_run() -> None:
    instance = make_instance(pass_to_pass=())
    engine = make_engine([instance])
    assert {judge(engine, instance, WRONG.format(name)).outcome for name in "abcde"} == {Outcome.UNRESOLVED}
    assert engine.opened == 5 + 1


@pytest.mark.parametrize("patch", [None, "other"])
def test_an_image_in_which_any_patch_passed_tests_is_not_tried(patch: str | None) -> None:
    instance = make_instance()
    engine = make_engine([instance], flaky={KEPT: (True, False)})
    judge(engine, instance, patch and WRONG.format(patch))
    assert judge(engine, instance, WRONG.format("b")).outcome is Outcome.UNRESOLVED
    assert engine.opened == 2


def test_gold_itself_is_not_run_again_to_blame_its_image(instance: Instance) -> None:
    engine = broken(instance)
    assert judge(engine, instance).outcome is Outcome.ENV_ERROR
    assert engine.opened == 1


@pytest.mark.parametrize(
    ("changes", "outcome", "opened"),
    [
        ({"gold_patch": ""}, Outcome.ENV_ERROR, 2),
        ({"gold_patch": "", "pass_to_pass": ()}, Outcome.UNRESOLVED, 1),
        ({"gold_patch": "no diff"}, Outcome.UNRESOLVED, 1),
    ],
)
def test_without_gold_the_tests_that_pass_anyway_decide(changes: dict[str, Any], outcome: Outcome, opened: int) -> None:
    instance = make_instance(**changes)
    engine = broken(instance)
    assert judge(engine, instance, WRONG.format("b")).outcome is outcome
    assert engine.opened == opened


def test_other_tests_or_limits_in_the_same_image_are_tried_by_themselves(instance: Instance) -> None:
    engine = broken(instance)
    judge(engine, instance, WRONG.format("b"))
    judge(engine, make_instance(test_patch=instance.test_patch + "\n"), WRONG.format("b"))
    assert engine.opened == 4


def test_a_patch_that_passes_tests_later_ends_the_blame(instance: Instance) -> None:
    judge(broken(instance), instance, WRONG.format("b"))
    assert judge(make_engine([instance]), instance).resolved
    assert judge(broken(instance), instance, WRONG.format("b")).outcome is Outcome.UNRESOLVED


@pytest.mark.parametrize("ends", [True, False])
def test_a_control_that_is_killed_or_that_the_engine_fails_is_not_remembered(ends: bool) -> None:
    def fail(call: str, _image: str) -> None:
        if call == "open" and engine.opened == 1:
            engine.abort()
            if not ends:
                raise EngineError("the engine is gone")

    instance = make_instance(pass_to_pass=())
    engine = make_engine([instance], fault=fail)
    outcome = Outcome.UNRESOLVED if ends else Outcome.INFRA_ERROR
    assert judge(engine, instance, WRONG.format("b")).outcome is outcome
    sound = make_engine([instance])
    assert judge(sound, instance, WRONG.format("c")).outcome is Outcome.UNRESOLVED
    assert sound.opened == 2


def test_an_image_where_the_own_tests_pass_nothing_is_no_fault_of_a_patch_of_tests(instance: Instance) -> None:
    judged = instance.model_copy(update={"rule": Rule.SWT_BENCH})
    added = instance.test_patch.replace("test_add", "test_more")
    engine = make_engine([judged], flaky=dict.fromkeys((KEPT, "test_more", "test_add"), (False,)))
    assert judge(engine, judged, added).outcome is Outcome.ENV_ERROR
    assert judge(make_engine([judged]), judged, added).outcome is Outcome.UNRESOLVED


def judge_slowly(name: str) -> tuple[Outcome, int]:
    instance = make_instance()
    engine = broken(instance)
    engine.seconds = 0.05
    return judge(engine, instance, WRONG.format(name)).outcome, engine.opened


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_many_at_once_try_an_image_once(kind: str) -> None:
    fork = multiprocessing.get_context("fork")
    with ThreadPoolExecutor(6) if kind == "threads" else ProcessPoolExecutor(6, mp_context=fork) as pool:
        done = list(pool.map(judge_slowly, "abcdef"))
    assert {outcome for outcome, _ in done} == {Outcome.ENV_ERROR}
    assert sum(opened for _, opened in done) == 6 + 1


def test_a_run_counts_them_apart_and_grades_them_again_alike(instance: Instance, tmp_path: Path) -> None:
    store, engine = RunStore(tmp_path / "run"), broken(instance)
    runner = Runner(store, StubBench(engine), pause=0)
    report = build_report(runner.execute([make_task(instance, WRONG.format("b"))]), [instance.id])
    assert (report.unresolved_ids, report.infra_failure_ids) == ([], [instance.id])
    evidence = store.load_evidence(instance.id)
    assert evidence is not None
    assert grade(instance, evidence).outcome is Outcome.ENV_ERROR
    assert evidence.report.tests == {FIXED: "failed", KEPT: "failed"}


@pytest.mark.parametrize(("passes", "outcome"), [(True, Outcome.UNRESOLVED), (False, Outcome.ENV_ERROR)])
def test_over_a_tree_that_lacks_files_what_fails_is_tried_with_gold(passes: bool, outcome: Outcome) -> None:
    """With ``passes`` gold resolves; else a test that the whole tree would pass fails with any patch."""
    instance = make_instance(lacking=("data/a.bin",), pass_to_pass=(KEPT, "test_reads"))
    engine = make_engine([instance], flaky={} if passes else {"test_reads": (False,)})
    verdicts = [judge(engine, instance, WRONG.format(name)) for name in "ab"]
    assert {each.outcome for each in verdicts} == {outcome}
    assert engine.opened == 2 + 1
    assert ("the tree lacks data/a.bin; with gold: " in verdicts[0].reason) is not passes
    assert "not_in_mirror:data/a.bin" in verdicts[0].flags


def test_over_a_tree_that_lacks_files_and_without_gold_verdicts_stay() -> None:
    instance = make_instance(lacking=("data/a.bin",), gold_patch="")
    assert judge(make_engine([instance]), instance, WRONG.format("b")).outcome is Outcome.UNRESOLVED
