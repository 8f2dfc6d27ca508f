"""Searches on an engine whose tests pass with some lines of a patch."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.harness.causes import run
from assay.harness.causes.run import CauseRunner
from assay.harness.causes.search import CauseSettings
from assay.harness.domain import Apply, ApplyStatus, Evidence, FailedPart, Instance, Outcome, Prediction, Rule, Verdict
from assay.harness.engines.fake import FakeEngine
from assay.harness.evaluation.evaluate import Evaluation, Task
from assay.harness.patches.diff import find_touched_paths
from assay.harness.runs.runner import Runner
from assay.harness.runs.store import RunStore
from benches import PLAN, StubBench
from toy import GOLD

COMMENT = """\
diff --git a/other.py b/other.py
--- a/other.py
+++ b/other.py
@@ -1,2 +1,4 @@
 import calc
+# explains something
+UNUSED = 1
 import sys
@@ -9,2 +11,5 @@ def main():
     pass
 # the end
+def unused():
+    return 1
+
"""
FILE = """\
diff --git a/unrelated.py b/unrelated.py
new file mode 100644
--- /dev/null
+++ b/unrelated.py
@@ -0,0 +1,2 @@
+def unrelated():
+    return 2
"""
PADDED = COMMENT + GOLD + FILE
FIX = "+    return a + b\n"


class Judge:
    """Stands for evaluations: a part resolves if it has some lines."""

    def __init__(self, *needed: str) -> None:
        self.needed = needed or (FIX,)
        self.whole: tuple[str, ...] = ()
        """Lines that break the rest where some of them are without the others."""
        self.parts: list[str] = []
        self.fails = 0
        """Evaluations that the engine fails first."""

    def __call__(self, task: Task, _bench: object, _labels: object) -> Evaluation:
        if self.fails:
            self.fails -= 1
            broken = Evidence(
                instance_id=task.instance.id,
                apply=Apply(status=ApplyStatus.EMPTY),
                failed_part=FailedPart.INFRASTRUCTURE,
                error="the engine is gone",
            )
            return Evaluation(broken)
        self.parts.append(task.prediction.patch)
        return Evaluation(Evidence(instance_id=task.instance.id, apply=Apply(status=ApplyStatus.APPLIED)))

    def grade(self, task: Task, evaluation: Evaluation) -> Verdict:
        patch = task.prediction.patch
        resolved = all(line in patch for line in self.needed)
        if any(line in patch for line in self.whole if line.strip("+\n")):
            resolved = resolved and all(line in patch for line in self.whole if line.strip("+\n"))
        outcome = Outcome.RESOLVED if resolved else Outcome.UNRESOLVED
        if evaluation.evidence.failed_part:
            outcome = Outcome.INFRA_ERROR
        return Verdict(instance_id=task.instance.id, outcome=outcome, reason=evaluation.evidence.error)


Make = Callable[..., CauseRunner]


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> Judge:
    judge = Judge()
    monkeypatch.setattr(run, "evaluate_once", judge)
    monkeypatch.setattr(run, "grade_evaluation", judge.grade)
    return judge


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def make(*, fresh: bool = False, **settings: Any) -> CauseRunner:
        return CauseRunner(
            RunStore(tmp_path / "mine"), StubBench(FakeEngine({})), CauseSettings(**settings), fresh=fresh
        )

    return make


def make_task(instance: Instance, patch: str = PADDED) -> Task:
    return Task(instance, Prediction(instance_id=instance.id, model="m", patch=patch), PLAN)


def test_padding_is_not_needed_and_the_cause_is_saved(judge: Judge, make: Make, instance: Instance) -> None:
    (cause,) = make().execute([make_task(instance)])
    assert find_touched_paths(cause.patch) == ("calc.py",)
    assert (cause.lines, cause.hunks, cause.of_lines, cause.of_hunks) == (1, 1, 9, 4)
    assert cause.needed_share == round(1 / 9, 4)
    assert (cause.hunks_are_needed, cause.lines_are_needed) == (True, True)
    assert cause.hunk_evaluations <= 2
    store = make().store
    saved = store.load_cause(instance.id)
    assert saved is not None
    assert saved.cause == cause
    folder = store.root / "instances" / instance.id / "cause"
    assert (folder / "cause.diff").read_text() == cause.patch
    assert (folder / "evidence.json").is_file()


def test_a_function_of_which_no_line_can_go_alone_is_left_out(judge: Judge, make: Make, instance: Instance) -> None:
    unused = ("+func unused() int {\n", "+\n", "+    return 1\n", "+}\n")
    patch = GOLD.replace("@@ -1,2 +1,2 @@", "@@ -1,2 +1,7 @@") + "+\n" + "".join(unused)
    judge.whole = unused
    (cause,) = make().execute([make_task(instance, patch)])
    assert (cause.lines, cause.hunks) == (1, 1)
    assert "unused" not in cause.patch


def test_whole_hunks_stay_whole(judge: Judge, make: Make, instance: Instance) -> None:
    (cause,) = make(lines=False).execute([make_task(instance)])
    assert cause.patch == GOLD
    assert (cause.hunks_are_needed, cause.lines_are_needed, cause.lines) == (True, False, 2)
    (further,) = make().execute([make_task(instance)])
    assert (further.lines, further.lines_are_needed) == (1, True)
    assert len(judge.parts) == len({*judge.parts}), "nothing is evaluated twice"


def test_every_tree_is_evaluated_once_and_a_second_call_evaluates_nothing(
    judge: Judge, make: Make, instance: Instance
) -> None:
    (first,) = make().execute([make_task(instance)])
    count = len(judge.parts)
    assert make().execute([make_task(instance)]) == [first]
    assert len(judge.parts) == count
    make(fresh=True).execute([make_task(instance)])
    assert len(judge.parts) == 2 * count


def test_a_small_budget_is_kept_and_the_next_call_goes_on(judge: Judge, make: Make, instance: Instance) -> None:
    judge.needed = ("+    return a + b\n", "+UNUSED = 1\n", "+def unrelated():\n", "+    return 2\n")
    sizes, calls = [], 0
    while True:
        calls += 1
        before = len(judge.parts)
        (cause,) = make(evaluations=2).execute([make_task(instance)])
        assert len(judge.parts) - before <= 2
        assert all(line in cause.patch for line in judge.needed), "whatever is left resolves"
        sizes.append(cause.lines)
        if cause.lines_are_needed:
            break
    assert sizes == sorted(sizes, reverse=True)
    assert (sizes[-1], calls > 2) == (4, True)
    assert len(judge.parts) == len({*judge.parts})


def test_other_content_or_code_is_searched_anew(judge: Judge, make: Make, instance: Instance) -> None:
    make().execute([make_task(instance)])
    assert make().find_known(make_task(instance)) is not None
    assert make().find_known(make_task(instance, GOLD)) is None
    assert make().find_known(replace(make_task(instance), plan=PLAN.model_copy(update={"command": "false"}))) is None


def test_an_engine_that_fails_twice_changes_nothing(judge: Judge, make: Make, instance: Instance) -> None:
    judge.fails = 2
    (cause,) = make().execute([make_task(instance)])
    assert (cause.error, cause.lines) == ("", 1)


def test_an_engine_that_fails_is_told_and_not_taken_for_an_answer(judge: Judge, make: Make, instance: Instance) -> None:
    judge.fails = 1000
    (cause,) = make().execute([make_task(instance)])
    assert cause.error == "an evaluation failed: the engine is gone"
    assert cause.needed_share is None
    judge.fails = 0
    (cause,) = make().execute([make_task(instance)])
    assert (cause.error, cause.lines) == ("", 1)


def test_a_patch_that_does_not_resolve_any_more_has_no_cause(judge: Judge, make: Make, instance: Instance) -> None:
    judge.needed = ("nowhere",)
    (cause,) = make().execute([make_task(instance)])
    assert cause.error == "the whole patch does not resolve any more; evaluate it again"
    judge.needed = (FIX,)
    (cause,) = make().execute([make_task(instance)])
    assert not cause.error


def test_what_cannot_be_read_and_what_judges_tests_is_told(judge: Judge, make: Make, instance: Instance) -> None:
    (cause,) = make().execute([make_task(instance, "no diff")])
    assert "not a unified diff" in cause.error
    tests = instance.model_copy(update={"rule": Rule.SWT_BENCH})
    (cause,) = make().execute([make_task(tests)])
    assert "judges tests" in cause.error
    assert not judge.parts


def test_lines_that_look_at_frames_or_tests_are_flagged(judge: Judge, make: Make, instance: Instance) -> None:
    forged = GOLD.replace("@@ -1,2 +1,2 @@", "@@ -1,2 +1,4 @@").replace(
        FIX, f"+    import sys\n+    if 'test_calc' in sys._getframe(1).f_code.co_filename: return 3\n{FIX}"
    )
    judge.needed = ("sys._getframe", "import sys")
    (cause,) = make().execute([make_task(instance, COMMENT + forged)])
    assert cause.lines == 2
    assert [(flag.path, flag.word) for flag in cause.flags] == [("calc.py", "test_calc")]
    assert not make().execute([make_task(instance, GOLD)])[0].flags


def test_a_whole_patch_with_a_verdict_is_not_evaluated_again(make: Make, instance: Instance) -> None:
    bench = StubBench(FakeEngine({f"fake/{instance.id.lower()}:1": instance}))
    runner = replace(make(), bench=bench)
    Runner(runner.store, bench).execute([make_task(instance, GOLD)])
    opened = bench.engine.opened
    (cause,) = runner.execute([make_task(instance, GOLD)])
    assert (cause.error, cause.hunks, cause.hunk_evaluations) == ("", 1, 0)
    assert bench.engine.opened - opened <= 2 * cause.evaluations + 1, "gold's own run proves that tests can stop early"
