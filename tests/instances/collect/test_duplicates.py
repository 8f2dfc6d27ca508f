"""Patches that are nearly the same."""

from assay.instances.collect.duplicates import PatchIndex


def patch(*lines: str, path: str = "calc.py") -> str:
    added = "".join(f"+{line}\n" for line in lines)
    return f"--- a/{path}\n+++ b/{path}\n@@ -1 +1,{len(lines) + 1} @@\n import sys\n{added}"


FIVE = ("a = 1", "b = 2", "c = 3", "d = 4", "e = 5")


def test_patches_that_share_four_fifths_of_their_lines_are_duplicates() -> None:
    index = PatchIndex()
    index.add("one", patch(*FIVE))
    assert index.find_duplicate(patch(*FIVE)) == "one"
    assert index.find_duplicate(patch(*FIVE[:4], path="other.py")) == "one"
    assert index.find_duplicate(patch(*FIVE[:3])) == ""
    assert index.find_duplicate(patch(*FIVE, *("f = 6", "g = 7"))) == ""


def test_the_nearest_patch_is_named() -> None:
    index = PatchIndex()
    index.add("far", patch(*FIVE[:4]))
    index.add("near", patch(*FIVE))
    assert index.find_duplicate(patch(*FIVE)) == "near"


def test_white_space_does_not_count_and_direction_does() -> None:
    index = PatchIndex()
    index.add("one", patch("    a = 1"))
    assert index.find_duplicate(patch("a = 1  ")) == "one"
    assert index.find_duplicate("--- a/calc.py\n+++ b/calc.py\n@@ -1,2 +1 @@\n import sys\n-a = 1\n") == ""


def test_broken_and_empty_patches_are_no_duplicates() -> None:
    index = PatchIndex()
    index.add("broken", "--- a/x\n+++ b/x\n@@ -1,9 +1 @@\n-a\n")
    index.add("empty", "")
    assert index.find_duplicate("") == ""
    assert index.find_duplicate("--- a/x\n+++ b/x\n@@ -1,9 +1 @@\n-a\n") == ""
