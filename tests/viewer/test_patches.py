"""Patches as they are shown."""

from assay.viewer.patches import LINES, align_files, show_patch

TWO = """diff --git a/calc.py b/calc.py
--- a/calc.py
+++ b/calc.py
@@ -10,3 +10,3 @@ def add(a, b):
 # kept
-    return a - b
+    return a + b
 # kept
diff --git a/new.txt b/new.txt
new file mode 100644
--- /dev/null
+++ b/new.txt
@@ -0,0 +1 @@
+<b>
diff --git a/old.py b/moved.py
similarity index 100%
rename from old.py
rename to moved.py
"""


def test_lines_have_their_numbers_in_both_files() -> None:
    first, second, third = show_patch(TWO).files
    (hunk,) = first.hunks
    assert [(line.kind, line.old, line.new) for line in hunk.lines] == [
        ("kept", 10, 10),
        ("removed", 11, 0),
        ("added", 0, 11),
        ("kept", 12, 12),
    ]
    assert (first.path, first.added, first.removed, first.note, hunk.section) == ("calc.py", 1, 1, "", "def add(a, b):")
    assert '<span class="k">return</span>' in hunk.lines[1].html
    assert (second.note, second.hunks[0].lines[0].new, second.hunks[0].lines[0].html) == ("new file", 1, "&lt;b&gt;")
    assert (third.path, third.note) == ("moved.py", "renamed from old.py")


def test_string_over_several_lines_keeps_its_lines_apart() -> None:
    text = '--- a/a.py\n+++ b/a.py\n@@ -0,0 +1,3 @@\n+"""one\n+two\n+three"""\n'
    lines = show_patch(text).files[0].hunks[0].lines
    assert ["one" in lines[0].html, "two" in lines[1].html, "three" in lines[2].html] == [True] * 3
    assert all(str(line.html).count("<span") == str(line.html).count("</span>") for line in lines)


def test_patch_that_is_no_diff_is_shown_as_text_with_the_reason() -> None:
    shown = show_patch("I would change <calc.py>")
    assert "I would change &lt;calc.py&gt;" in str(shown.text)
    assert shown.note == "this is no diff"
    broken = show_patch(TWO.replace("@@ -10,3 +10,3 @@", "@@ -10,9 +10,9 @@"))
    assert broken.note.startswith("this is no diff that can be read")
    assert "calc.py" in (broken.text or "")
    assert show_patch(" \n").is_empty


def test_long_patch_is_cut_with_a_note() -> None:
    text = f"--- a/a.txt\n+++ b/a.txt\n@@ -0,0 +1,{LINES + 10} @@\n" + "+x\n" * (LINES + 10)
    shown = show_patch(text)
    assert len(shown.files[0].hunks[0].lines) == LINES
    assert shown.note == "10 more lines are not shown"


def test_files_of_both_patches_come_first_and_side_by_side() -> None:
    left = show_patch("--- a/mine\n+++ b/mine\n@@ -1 +1 @@\n-a\n+b\n--- a/both\n+++ b/both\n@@ -1 +1 @@\n-a\n+b\n")
    right = show_patch("--- a/both\n+++ b/both\n@@ -1 +1 @@\n-a\n+c\n--- a/gold\n+++ b/gold\n@@ -1 +1 @@\n-a\n+b\n")
    files = align_files((left, right))
    assert [(file.path, *map(bool, file.sides)) for file in files] == [
        ("both", True, True),
        ("mine", True, False),
        ("gold", False, True),
    ]
