"""Diffs as they are read, and where their lines come to lie."""

import difflib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.harness.metrics.placing import parse_patch, place
from assay.harness.patches.diff import MalformedPatchError

PATCH = """\
diff --git a/a.py b/a.py
index 1111111..2222222 100644
--- a/a.py
+++ b/a.py
@@ -2,3 +2,4 @@ def f():
 b
-c
+C
+
 d
"""
TEXT = "a\nb\nc\nd\n"


@pytest.mark.parametrize("before", ["", "new\nnew\n"], ids=["in its place", "shifted"])
def test_hunk_is_found_and_its_lines_are_numbered_from_1(before: str) -> None:
    (change,) = parse_patch(PATCH)
    placed = place(change, before + TEXT)
    number = 3 + before.count("\n")
    assert (placed.removed, placed.added) == ((number,), (number,)), "the empty line counts for nothing"
    assert placed.after == before + "a\nb\nC\n\nd\n"


def test_nearest_match_of_a_hunk_is_taken() -> None:
    (change,) = parse_patch("--- a/a\n+++ b/a\n@@ -4,1 +4,1 @@\n-x\n+y\n")
    assert place(change, "x\n1\nx\n2\n3\n4\nx\n").removed == (3,)


def test_hunks_do_not_overlap() -> None:
    patch = "--- a/a\n+++ b/a\n@@ -1,2 +1,1 @@\n-x\n x\n@@ -5,2 +4,1 @@\n-x\n x\n"
    (change,) = parse_patch(patch)
    assert place(change, "x\nx\nx\nx\n").removed == (1, 3)
    with pytest.raises(MalformedPatchError, match="no lines like those of the hunk at line 5"):
        place(change, "x\nx\nx\n")


def test_missing_file_is_malformed() -> None:
    (change,) = parse_patch(PATCH)
    with pytest.raises(MalformedPatchError, match=r"a\.py: there is no such file"):
        place(change, None)


def test_names_of_new_removed_and_renamed_files() -> None:
    made, gone, moved, quoted, plain = parse_patch(
        "diff --git a/new.py b/new.py\nnew file mode 100644\n--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+x\n"
        "--- a/old.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
        "diff --git a/p/one.py b/p/two.py\nsimilarity index 100%\nrename from p/one.py\nrename to p/two.py\n"
        'diff --git "a/caf\\303\\251.py" "b/caf\\303\\251.py"\n'
        '--- "a/caf\\303\\251.py"\n+++ "b/caf\\303\\251.py"\n@@ -1 +1 @@\n-x\n+y\n'
        "--- plain.py\t2020-01-01\n+++ plain.py\t2020-01-02\n@@ -1 +1 @@\n-x\n+y\n"
    )
    assert (made.old, made.new, made.base_path) == (None, "new.py", "new.py")
    assert place(made, None).added == (1,)
    assert (gone.old, gone.new, gone.base_path) == ("old.py", None, "old.py")
    assert place(gone, "x\n").removed == (1,)
    assert (moved.old, moved.new, moved.base_path, moved.hunks) == ("p/one.py", "p/two.py", "p/one.py", ())
    assert quoted.path == "café.py"
    assert plain.path == "plain.py"


def test_header_like_line_within_a_hunk_is_content() -> None:
    (change,) = parse_patch("--- a/a.sql\n+++ b/a.sql\n@@ -1,2 +1,2 @@\n--- old\n+++ new\n x\n")
    assert place(change, "-- old\nx\n").after == "++ new\nx\n"


@pytest.mark.parametrize(
    "lines",
    ["old mode 100644\nnew mode 100755\n", "index 1..2\nGIT binary patch\nliteral 0\nHcmV?d00001\n\n"],
    ids=["mode", "binary"],
)
def test_changed_mode_or_binary_file_is_a_change_without_hunks(lines: str) -> None:
    (change,) = parse_patch(f"diff --git a/x b/x\n{lines}")
    assert (change.path, change.hunks) == ("x", ())


def test_empty_text_changes_nothing() -> None:
    assert parse_patch(" \n") == ()


@pytest.mark.parametrize("text", ["words", PATCH[:-4], PATCH.replace("a.py", "../a.py")])
def test_patch_that_fails_the_gate_is_not_read(text: str) -> None:
    with pytest.raises(MalformedPatchError):
        parse_patch(text)


LINES = st.lists(st.sampled_from(["a", "b", "c", " d", "+e", "-f", "@@ -1 +1 @@", "g\r", "h\f", ""]), max_size=12)


@settings(deadline=None)
@given(before=LINES, after=LINES, context=st.integers(0, 4))
def test_placed_diff_gives_the_new_text(before: list[str], after: list[str], context: int) -> None:
    diff = list(difflib.unified_diff(before, after, "a/x", "b/x", n=context, lineterm=""))
    if not diff:
        return
    (change,) = parse_patch("\n".join(diff) + "\n")
    placed = place(change, "".join(f"{line}\n" for line in before))
    assert placed.after == "".join(f"{line}\n" for line in after)
    minus = [line[1:] for line in diff[2:] if line.startswith("-")]
    plus = [line[1:] for line in diff[2:] if line.startswith("+")]
    assert [before[number - 1] for number in placed.removed] == [line for line in minus if line.strip()]
    assert [after[number - 1] for number in placed.added] == [line for line in plus if line.strip()]
