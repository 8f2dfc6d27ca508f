"""Which part of a patch is taken for tests, and how often lines of a change run."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.harness.benchmarks.swt_bench import line_counter
from assay.harness.benchmarks.swt_bench.change_coverage import FOLDER, OUT, change_coverage
from assay.harness.benchmarks.swt_bench.evaluate import find_files_at_base, gate_tests, only_tests, replace_tests
from assay.harness.domain import ApplyStatus, Instance, Prediction, Rule, TestedTree, TestPlan
from assay.harness.evaluation.evaluate import Evaluation, Task, judge_without_container
from assay.harness.patches.diff import MalformedPatchError, read_diff
from toy import GOLD, MORE_TESTS, TESTS, make_instance


def new_file(path: str, text: str = "x = 1") -> str:
    return f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+{text}\n"


@pytest.fixture
def task() -> Callable[[str], Task]:
    instance = make_instance(rule=Rule.SWT_BENCH, fail_to_pass=(), pass_to_pass=())
    return lambda patch: Task(instance, Prediction(instance_id=instance.id, patch=patch), TestPlan(command="exit 0"))


@pytest.mark.parametrize(
    "path",
    ["calc.py", "conftest.py", "tests/conftest.py", "pytest.ini", "repro.py", "tests/.gitattributes", "tests/old.pyc"],
)
def test_what_is_no_test_is_left_out(instance: Instance, path: str) -> None:
    assert read_diff(only_tests(instance, new_file(path) + TESTS + MORE_TESTS).text) == read_diff(TESTS + MORE_TESTS)


def test_a_patch_of_tests_alone_stays_as_it_is(instance: Instance) -> None:
    for patch in (TESTS, MORE_TESTS, new_file("tests/data/new.json", "{}"), new_file("pkg/test_x.py")):
        assert only_tests(instance, patch).text == patch


def test_files_of_the_own_test_patch_are_tests_and_those_of_the_gold_patch_are_not() -> None:
    instance = make_instance(test_patch=new_file("tests/conftest.py"), gold_patch=GOLD + new_file("tests/plugin.py"))
    assert only_tests(instance, new_file("tests/conftest.py")).paths == ("tests/conftest.py",)
    assert only_tests(instance, new_file("tests/plugin.py")).is_empty


def test_a_move_of_a_source_into_the_tests_is_left_out(instance: Instance) -> None:
    moved = (
        "diff --git a/calc.py b/tests/calc.py\nsimilarity index 100%\nrename from calc.py\nrename to tests/calc.py\n"
    )
    assert read_diff(only_tests(instance, moved + TESTS).text) == read_diff(TESTS)


@pytest.mark.parametrize("patch", ["no diff", new_file("../tests/test_x.py"), new_file("tests/ConfTest.py")])
def test_a_patch_that_may_not_be_applied_is_refused(task: Callable[[str], Task], patch: str) -> None:
    with pytest.raises(MalformedPatchError):
        only_tests(task(patch).instance, patch)
    found = gate_tests(task(patch))
    assert isinstance(found, Evaluation)
    assert found.evidence.apply.status is ApplyStatus.REJECTED
    assert replace_tests(task(patch).instance, task(patch).prediction).test_patch == ""


def test_a_patch_without_tests_is_empty_and_says_so(task: Callable[[str], Task]) -> None:
    for patch, detail in (("", ""), (GOLD, "the patch changes no file of the tests")):
        found = gate_tests(task(patch))
        assert isinstance(found, Evaluation)
        assert (found.evidence.apply.status, found.evidence.apply.detail) == (ApplyStatus.EMPTY, detail)


def test_the_base_commit_has_the_files_that_a_patch_does_not_make(instance: Instance) -> None:
    assert find_files_at_base(instance.model_copy(update={"test_patch": TESTS + MORE_TESTS})) == ("tests/test_calc.py",)


SOURCE = "def add(a, b):\n    if a:\n        return a + b\n    return b\n"
CHANGE = """\
diff --git a/calc.py b/calc.py
--- a/calc.py
+++ b/calc.py
@@ -1,2 +1,4 @@
 def add(a, b):
-    return a - b
+    if a:
+        return a + b
+    return b
"""


def test_the_coverage_of_a_change_counts_lines_that_run(tmp_path: Path) -> None:
    """The last of three new lines does not run, and the first runs as often without the test patch."""
    calls = {
        TestedTree.BASE: "calc.add(1, 2)",
        TestedTree.GOLD: "calc.add(1, 2)",
        TestedTree.BASE_ALONE: "",
        TestedTree.GOLD_ALONE: "calc.add(0, 2)",
    }

    def run(tree: TestedTree, task: Task) -> Evaluation:
        folder, out = tmp_path / tree, tmp_path / f"{tree}-out"
        on_base = tree in {TestedTree.BASE, TestedTree.BASE_ALONE}
        files = {"calc.py": b"def add(a, b):\n    return a - b\n" if on_base else SOURCE.encode(), **task.assets()}
        for path, content in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
        out.mkdir()
        env = {**os.environ, **task.plan.env, line_counter.OUT: str(out), "PYTHONPATH": str(folder / FOLDER)}
        assert f"mkdir -p {OUT}" in task.plan.command
        program = f"import sys; sys.path.insert(0, '.'); import calc; {calls[tree]}"
        subprocess.run([sys.executable, "-c", program], cwd=folder, env=env, check=True)
        reports = {path.name: path.read_bytes() for path in out.iterdir()}
        return Evaluation(judge_without_container(task, ApplyStatus.EMPTY, "").evidence, report_files=reports)

    plan = TestPlan(command="exit 0")
    task = Task(make_instance(gold_patch=CHANGE), Prediction(instance_id="acme__calc-1"), plan, beside=plan)
    assert change_coverage(task, run) == {"change_coverage": 0.75, "change_coverage_delta": 0.5}
    assert change_coverage(task, lambda _tree, _task: None) == {}
