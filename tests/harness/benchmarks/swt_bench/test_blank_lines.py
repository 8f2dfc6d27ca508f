"""A patch that looks like another one's files were changed."""

import subprocess
from pathlib import Path

import pytest

from assay.harness.benchmarks.swt_bench.blank_lines import add_blank_lines
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


@pytest.mark.parametrize(
    ("patch", "before", "after"),
    [
        (GOLD, "def add(a, b):\n    return a - b\n", "\ndef add(a, b):\n    return a - b\n"),
        (DEEP, "one\ntwo\nthree\nfour\nfive", "one\ntwo\n\nthree\nfour\nfive"),
    ],
)
def test_git_adds_one_blank_line_and_nothing_else(tmp_path: Path, patch: str, before: str, after: str) -> None:
    (tmp_path / "calc.py").write_text(before)
    subprocess.run(["git", "apply", "-"], input=add_blank_lines(patch), text=True, cwd=tmp_path, check=True)
    assert (tmp_path / "calc.py").read_text() == after


def test_a_new_file_is_left_out() -> None:
    assert add_blank_lines(MORE_TESTS) == ""
    assert add_blank_lines(MORE_TESTS + GOLD) == add_blank_lines(GOLD) != ""
