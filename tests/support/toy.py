"""The patches of a small project written for the tests, and its instance."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from assay.harness.domain import Instance

GOLD = """\
diff --git a/calc.py b/calc.py
--- a/calc.py
+++ b/calc.py
@@ -1,2 +1,2 @@
 def add(a, b):
-    return a - b
+    return a + b
"""
TESTS = """\
diff --git a/tests/test_calc.py b/tests/test_calc.py
--- a/tests/test_calc.py
+++ b/tests/test_calc.py
@@ -1,4 +1,8 @@
 import calc

 def test_same():
     assert calc.add(0, 0) == 0
+
+
+def test_add():
+    assert calc.add(1, 2) == 3
"""
FIXED, KEPT = "tests/test_calc.py::test_add", "tests/test_calc.py::test_same"
MORE_TESTS = """\
diff --git a/tests/test_more.py b/tests/test_more.py
new file mode 100644
--- /dev/null
+++ b/tests/test_more.py
@@ -0,0 +1,2 @@
+def test_more():
+    pass
"""


def make_instance(**changes: Any) -> Instance:
    """Return the project's instance with some fields changed."""
    fields = {
        "id": "acme__calc-1",
        "repo": "acme/calc",
        "base_commit": "0" * 40,
        "problem_statement": "add subtracts",
        "gold_patch": GOLD,
        "test_patch": TESTS,
        "fail_to_pass": (FIXED,),
        "pass_to_pass": (KEPT,),
        "created_at": datetime(2023, 1, 2, tzinfo=UTC),
    }
    return Instance.model_validate({**fields, **changes})


def make_instances(numbers: Iterable[int], **changes: Any) -> list[Instance]:
    return [make_instance(id=f"acme__calc-{number}", **changes) for number in numbers]
