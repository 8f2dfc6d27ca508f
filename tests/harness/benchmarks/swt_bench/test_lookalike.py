"""A patch that looks like another one's files were changed."""

import re
import subprocess
from pathlib import Path

import pytest

from assay.harness.benchmarks.swt_bench.lookalike import make_lookalike
from assay.harness.languages import find
from assay.harness.languages.base import Lines
from toy import GOLD, MORE_TESTS

DEEP = """\
diff --git a/calc.py b/calc.py
--- a/calc.py
+++ b/calc.py
@@ -3,3 +3,2 @@ def add(a, b):
 three
-four
-five
\\ No newline at end of file
+4
\\ No newline at end of file
"""


CLASS = """\
diff --git a/calc.py b/calc.py
--- a/calc.py
+++ b/calc.py
@@ -1,5 +1,5 @@
 class Calc:
     @property
     def one(self):
         one = 1
-        return one + 1
+        return one
"""
PYTHON = find("python").LINES


@pytest.mark.parametrize(
    ("patch", "before", "lines", "after"),
    [
        (GOLD, "def add(a, b):\n    return a - b\n", PYTHON, "def add(a, b):\n{    }pass\n    return a - b\n"),
        (DEEP, "one\ntwo\nthree\nfour\nfive", PYTHON, "one\ntwo\n{}three\nfour\nfive"),
        (
            CLASS,
            "class Calc:\n    @property\n    def one(self):\n        one = 1\n        return one + 1\n",
            PYTHON,
            "class Calc:\n    @property\n    def one(self):\n        one = 1\n{        }pass\n        return one + 1\n",
        ),
        (GOLD, "def add(a, b):\n    return a - b\n", Lines(), "{}def add(a, b):\n    return a - b\n"),
    ],
)
def test_git_adds_a_blank_line_a_comment_and_a_statement(
    tmp_path: Path, patch: str, before: str, lines: Lines, after: str
) -> None:
    (tmp_path / "calc.py").write_text(before)
    subprocess.run(["git", "apply", "-"], input=make_lookalike(patch, lines), text=True, cwd=tmp_path, check=True)
    found = (tmp_path / "calc.py").read_text()
    comment = re.search(rf"^\n( *){lines.comments[0]} \w+\n", found, re.MULTILINE)
    assert comment is not None
    assert found == re.sub(r"\{( *)\}", lambda place: comment[0] + place[1], after)


def test_a_new_file_is_left_out() -> None:
    assert make_lookalike(MORE_TESTS, PYTHON) == ""
    assert make_lookalike(MORE_TESTS + GOLD, PYTHON) == make_lookalike(GOLD, PYTHON) != ""
