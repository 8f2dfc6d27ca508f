import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.patches.gate import MalformedPatchError
from assay.instances.audit.diffs import parse, render
from toy import GOLD, TESTS

PLAIN = """\
--- a/one.txt
+++ b/one.txt
@@ -1 +1,2 @@
 one
+two
--- a/three.txt
+++ b/three.txt
@@ -2,0 +3 @@
+three
"""
MANY_KINDS = """\
diff --git a/new.py b/new.py
new file mode 100644
--- /dev/null
+++ b/new.py
@@ -0,0 +1,2 @@
+a = 1
+b = 2
\\ No newline at end of file
diff --git a/old.py b/old.py
deleted file mode 100644
--- a/old.py
+++ /dev/null
@@ -1,2 +0,0 @@
-a = 1
-b = 2
diff --git a/from.py b/to.py
similarity index 100%
rename from from.py
rename to to.py
diff --git a/odd.txt b/odd.txt
--- a/odd.txt
+++ b/odd.txt
@@ -3,3 +3,3 @@ a section of it
 same
---- looks like a header
++++ and so does this
 same
"""


@pytest.mark.parametrize("text", ["", GOLD, PLAIN, MANY_KINDS])
def test_what_is_read_is_written_again(text: str) -> None:
    assert render(parse(text)) == text


def test_an_empty_line_gets_the_blank_back_that_a_mailer_took() -> None:
    assert render(parse(TESTS)) == TESTS.replace("\n\n def test_same", "\n \n def test_same")


def test_files_carry_their_new_name_and_a_deleted_one_its_old() -> None:
    assert [each.path for each in parse(MANY_KINDS)] == ["new.py", "old.py", "to.py", "odd.txt"]
    assert [len(each.hunks) for each in parse(MANY_KINDS)] == [1, 1, 0, 1]
    assert list(parse(MANY_KINDS)[0].added()) == ["a = 1", "b = 2"]


lines = st.lists(st.sampled_from(["a", "b", "- c", "+ d", "", "@@", "\\"]), max_size=30)


@given(lines, lines)
def test_any_diff_survives(old: list[str], new: list[str]) -> None:
    found = difflib.unified_diff(old, new, "a/x.txt", "b/x.txt", n=1, lineterm="")
    text = "".join(f"{line}\n" for line in found)
    (change,) = parse(text) or (None,)
    assert render(parse(text)) == text
    if change is not None:
        assert [line for hunk in change.hunks for line in hunk.added()] == [
            line[1:] for line in text.split("\n")[2:] if line.startswith("+")
        ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOLD.removesuffix("+    return a + b\n"), "cut off"),
        ("@@ -1 +1 @@\n-a\n+b\n", "without a file"),
        (GOLD.replace(" def add(a, b):", "def add(a, b):"), "shorter than its header says"),
    ],
)
def test_a_broken_diff_is_refused(text: str, message: str) -> None:
    with pytest.raises(MalformedPatchError, match=message):
        parse(text)
