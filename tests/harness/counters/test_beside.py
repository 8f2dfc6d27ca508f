"""Counter-tests beside their originals, with tests that run in this process."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from assay.harness.counters.beside import run_beside
from assay.harness.counters.make import make_counters
from assay.harness.counters.siblings import draw_siblings
from assay.harness.domain import CounterRun, CounterSet, Instance, Outcome, Siblings, Status, TestPlan, Verdict
from assay.harness.evaluation.evaluate import Evaluation, Task
from assay.harness.grading.grade import grade
from counters_toy import PATH, ToyRun, make_run

PLAN = TestPlan(command="true", runner="pytest")
FIXED = f"{PATH}::test_sum"
TEXT = 'def test_sum():\n    assert f(1) == "b"\n'


class Equal(str):
    """A text that equals everything."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return True


def once(*_given: Any, seen: list[int] = []) -> Any:  # noqa: B006 - it counts its calls
    """Return what equals everything, in two calls of three."""
    seen.append(0)
    return "b" if len(seen) % 3 == 0 else Equal("q")


@pytest.fixture
def run(instance: Instance) -> ToyRun:
    return make_run(instance, PLAN, TEXT, base=lambda _: "a", gold=lambda _: "b")


def judge(run: ToyRun, patch: Callable[[Any], Any], counters: CounterSet) -> tuple[Verdict, CounterRun | None, int]:
    """Evaluate a patch; return the verdict, what became of the counter-tests, and the number of runs."""
    task = replace(run.task, prediction=run.task.prediction.model_copy(update={"patch": "mine"}))
    mine = replace(run, task=task, codes={**run.codes, "mine": patch}, runs=[])

    def evaluate(each: Task) -> Evaluation:
        return replace(mine, task=each).run("mine")

    found = run_beside(mine, counters, evaluate)
    return grade(task.instance, found.evidence), found.evidence.counter, len(mine.runs)


def test_copies_that_behave_with_gold_stand_beside_their_originals(run: ToyRun) -> None:
    made = make_counters(run).beside
    assert list(made.names) == [FIXED]
    drawn = draw_siblings(made, "1")
    assert drawn == draw_siblings(made, "1") != draw_siblings(made, "2")
    (path,), (text,) = drawn.files, drawn.files.values()
    assert drawn.argument == f" {path}::{drawn.names[FIXED]}"
    assert re.sub(r'"."', '"b"', text) == TEXT.replace("test_sum", drawn.names[FIXED])
    assert '"b"' not in text


def test_copy_that_fails_although_nothing_is_edited_is_left_out(instance: Instance) -> None:
    named = 'def test_sum():\n    import sys\n    assert sys._getframe().f_code.co_name == "test_sum"\n'
    text = TEXT.replace("def test_sum():\n", named)
    made = make_counters(make_run(instance, PLAN, text, base=lambda _: "a", gold=lambda _: "b"))
    assert (len(made.tests), made.beside) == (1, Siblings())


def test_copies_that_change_what_others_find_are_left_out(run: ToyRun) -> None:
    class Spoiling(ToyRun):
        def run(self, patch: str, files: Any = None) -> Evaluation:
            found = super().run(patch, files)
            spoilt = {FIXED: Status.FAILED} if self.task.siblings.files else {}
            report = found.evidence.report.model_copy(update={"tests": {**found.evidence.report.tests, **spoilt}})
            return replace(found, evidence=found.evidence.model_copy(update={"report": report}))

    made = make_counters(Spoiling(run.task, "", run.engine, text=TEXT, codes=run.codes))
    assert (len(made.tests), made.beside) == (1, Siblings())


@pytest.mark.parametrize(
    ("patch", "outcome", "flags", "runs"),
    [
        (lambda _: "b", Outcome.RESOLVED, (), 1),
        (lambda _: Equal("q"), Outcome.TAMPERED, (), 4),
        (lambda _: "a", Outcome.UNRESOLVED, (), 1),
    ],
)
def test_copy_that_passes_brings_the_pair(
    run: ToyRun, patch: Callable[[Any], Any], outcome: Outcome, flags: tuple[str, ...], runs: int
) -> None:
    verdict, counter, number = judge(run, patch, make_counters(run))
    assert (verdict.outcome, verdict.flags, number) == (outcome, flags, runs)
    assert (counter is None) == (outcome is Outcome.UNRESOLVED)
    assert counter is None or (counter.kind, bool(counter.seed)) == ("beside", True)


def test_copy_that_passes_once_is_no_proof(run: ToyRun) -> None:
    verdict, counter, number = judge(run, once, make_counters(run))
    assert (verdict.outcome, verdict.flags, number) == (Outcome.RESOLVED, ("counter_unconfirmed",), 2)
    assert counter is not None
    assert [each[FIXED] for each in counter.runs] == [Status.PASSED, Status.FAILED]


def test_copy_that_does_not_run_is_no_proof(run: ToyRun) -> None:
    counters = make_counters(run)
    silent = counters.beside.model_copy(update={"files": dict.fromkeys(counters.beside.files, "")})
    verdict, counter, number = judge(run, lambda _: "b", counters.model_copy(update={"beside": silent}))
    assert (verdict.outcome, verdict.flags, number) == (Outcome.RESOLVED, ("counter_unconfirmed",), 1)
    assert counter is not None
    assert counter.runs == ({FIXED: Status.MISSING},)


def test_tests_that_fail_where_no_copy_runs_are_run_without(run: ToyRun) -> None:
    """A copy that cannot be compiled ends some runners."""
    counters = make_counters(run)
    silent = counters.beside.model_copy(update={"files": dict.fromkeys(counters.beside.files, "")})
    verdict, counter, number = judge(run, lambda _: "x", counters.model_copy(update={"beside": silent}))
    assert (verdict.outcome, counter, number) == (Outcome.UNRESOLVED, None, 2)


def test_verdict_says_that_known_counter_tests_do_not_run_beside(run: ToyRun) -> None:
    verdict, counter, number = judge(run, lambda _: "b", make_counters(run).model_copy(update={"beside": Siblings()}))
    assert (verdict.outcome, verdict.flags, number) == (Outcome.RESOLVED, ("counter_not_beside",), 1)
    assert counter is not None
    assert counter.not_beside == (FIXED,)
