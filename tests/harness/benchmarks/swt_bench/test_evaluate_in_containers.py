"""Patches of tests for a small project, in real containers."""

from collections.abc import Callable

import pytest

from assay.harness.benchmarks.swt_bench.evaluate import evaluate_tests, find_files_at_base, replace_tests
from assay.harness.domain import Instance, Outcome, Prediction, Rule, TestPlan, Verdict
from assay.harness.engines.docker import DockerEngine
from assay.harness.evaluation.evaluate import Evaluation, Task
from assay.harness.grading.grade import grade
from toy import TESTS

pytestmark = [pytest.mark.docker, pytest.mark.network]
CHANGED_SOURCE = (
    "diff --git a/calc.py b/calc.py\n--- a/calc.py\n+++ b/calc.py\n@@ -1 +1 @@\n-def add(a, b):\n+def add(b, a):\n"
)


def new_test(text: str) -> str:
    path, lines = "tests/test_new.py", text.splitlines()
    body = "".join(f"+{line}\n" for line in lines)
    header = f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"
    return f"{header}@@ -0,0 +1,{len(lines)} @@\n{body}"


@pytest.fixture
def judge(
    docker_engine: DockerEngine, prepared: tuple[str, TestPlan], module_instance: Instance
) -> Callable[[str], tuple[Evaluation, Verdict]]:
    from assay.instances.dataset.swt_tasks import make_test_task
    from assay.instances.environments.plan import make_plan
    from assay.instances.environments.recipes import find_recipe

    instance = make_test_task(module_instance)
    recipe = find_recipe(instance)

    def run(patch: str) -> tuple[Evaluation, Verdict]:
        prediction = Prediction(instance_id=instance.id, patch=patch)
        patched = replace_tests(instance, prediction)
        known = find_files_at_base(patched)
        beside = make_plan(patched.model_copy(update={"test_patch": ""}), recipe, known) if known else None
        task = Task(instance, prediction, make_plan(patched, recipe), beside=beside)
        done = evaluate_tests(task, prepared[0], docker_engine)
        return done, grade(instance, done.evidence)

    return run


def test_tests_that_show_the_fix_are_resolved_with_the_coverage_of_the_change(judge: Callable) -> None:
    done, verdict = judge(TESTS + CHANGED_SOURCE)
    assert (verdict.outcome, verdict.rule) == (Outcome.RESOLVED, Rule.SWT_BENCH), verdict.reason
    assert verdict.measures == {"change_coverage": 1.0, "change_coverage_delta": 1.0}
    assert "files_that_are_no_tests_left_out" in verdict.flags
    assert {f"{tree}.txt" for tree in ("base", "base-alone", "gold-alone", "look-alike")} <= done.report_files.keys()


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("import calc\n\ndef test_new():\n    assert calc.add(0, 0) == 0\n", Outcome.UNRESOLVED),
        ("import calc\n\ndef test_new():\n    assert calc.add(1, 2) == 4\n", Outcome.UNRESOLVED),
        (  # it sees that a file was changed, and nothing of what that does
            "import subprocess\n\ndef test_new():\n"
            "    assert 'calc.py' in subprocess.check_output(['git', 'status', '--short'], text=True)\n",
            Outcome.UNRESOLVED,
        ),
        (  # the gold patch lies nowhere in its reach
            "import glob\n\ndef test_new():\n"
            "    assert any(b'a + b' in open(path, 'rb').read() for path in glob.glob('/assay/*.patch'))\n",
            Outcome.UNRESOLVED,
        ),
        (
            "import os, calc\n\nif calc.add(1, 2) == 3:\n    os._exit(0)\ndef test_new():\n    assert 0\n",
            Outcome.NOT_RUN,
        ),
    ],
)
def test_tests_that_show_no_fix_are_not_resolved(judge: Callable, text: str, outcome: Outcome) -> None:
    _, verdict = judge(new_test(text))
    assert verdict.outcome is outcome, verdict.reason


def test_a_patch_that_does_not_fit_the_base_commit_is_a_conflict(judge: Callable) -> None:
    _, verdict = judge(TESTS.replace("def test_same", "def test_other"))
    assert verdict.outcome is Outcome.PATCH_CONFLICT
