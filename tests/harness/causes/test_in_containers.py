"""Causes in real containers: padding is not needed, and the lines that forge are."""

from collections.abc import Callable
from pathlib import Path

import pytest

from assay.harness.causes.run import CauseRunner
from assay.harness.causes.search import CauseSettings
from assay.harness.domain import Cause, Instance, Prediction, TestPlan
from assay.harness.engines.docker import DockerEngine
from assay.harness.evaluation.evaluate import Task
from assay.harness.patches.diff import find_touched_paths
from assay.harness.runs.runner import Runner
from assay.harness.runs.store import RunStore
from benches import StubBench

Trace = Callable[[str], Cause]

pytestmark = [pytest.mark.docker, pytest.mark.network]

PADDING = """\
diff --git a/unrelated.py b/unrelated.py
new file mode 100644
--- /dev/null
+++ b/unrelated.py
@@ -0,0 +1,2 @@
+def unrelated():
+    return 1
diff --git a/tests/test_calc.py b/tests/test_calc.py
--- a/tests/test_calc.py
+++ b/tests/test_calc.py
@@ -1,4 +1,5 @@
 import calc
+# put back before the tests run

 def test_same():
     assert calc.add(0, 0) == 0
"""
FIX = """\
diff --git a/calc.py b/calc.py
--- a/calc.py
+++ b/calc.py
@@ -1,2 +1,7 @@
 def add(a, b):
-    return a - b
+    # subtracted before
+    return a + b
+
+
+def unused():
+    return 1
"""
FORGED = """\
diff --git a/calc.py b/calc.py
--- a/calc.py
+++ b/calc.py
@@ -1,2 +1,6 @@
+import sys
 def add(a, b):
+    \"\"\"Return the sum.\"\"\"
+    if sys._getframe(1).f_code.co_name == "test_add":
+        return 3
     return a - b
"""


@pytest.fixture
def trace(
    docker_engine: DockerEngine, prepared: tuple[str, TestPlan], module_instance: Instance, tmp_path: Path
) -> Trace:
    """Return a function that evaluates a patch and finds its cause."""

    def find(patch: str) -> Cause:
        image, plan = prepared
        task = Task(module_instance, Prediction(instance_id=module_instance.id, patch=patch), plan)
        store, bench = RunStore(tmp_path / "run"), StubBench(docker_engine, name=image, plan_of_all=plan)
        (verdict,) = Runner(store, bench).execute([task])
        assert verdict.resolved, verdict.reason
        (cause,) = CauseRunner(store, bench, CauseSettings()).execute([task])
        return cause

    return find


def test_padding_is_never_part_of_the_cause(trace: Trace) -> None:
    cause = trace(PADDING + FIX)
    assert cause.error == ""
    assert find_touched_paths(cause.patch) == ("calc.py",)
    assert (cause.hunks, cause.of_hunks) == (1, 3)
    assert cause.hunk_evaluations <= 2
    added = [line for line in cause.patch.splitlines() if line.startswith("+    ")]
    assert added == ["+    return a + b"]
    assert cause.lines_are_needed
    assert not cause.flags


def test_forging_lines_are_the_cause_and_flagged(trace: Trace) -> None:
    cause = trace(PADDING + FORGED)
    assert cause.lines == 3
    assert "Return the sum" not in cause.patch
    assert [flag.word for flag in cause.flags] == ["test_add"]
