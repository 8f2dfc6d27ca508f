"""Likeness of diffs, against values that were worked out by hand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.harness.metrics.similarity import patch_similarity, text_similarity


def diff(path: str, *lines: str) -> str:
    return f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@ def f():\n" + "".join(
        f"{line}\n" for line in lines
    )


GOLD = diff("a.py", "-ab", "+cd")


def test_same_hunks_score_1_with_any_header() -> None:
    assert patch_similarity(GOLD, GOLD.replace(" def f():", "").replace("diff --git a/a.py b/a.py\n", "")).score == 1.0


def test_scores_worked_out_by_hand() -> None:
    # "@@ -1,1 +1,1 @@\n-ab\n+cd" has 15+1+3+1+3 = 23 characters; "+ce" for "+cd" leaves 22 of them: 44 / 46.
    assert patch_similarity(GOLD, diff("a.py", "-ab", "+ce")).score == pytest.approx(44 / 46)
    # Another file: nothing in common with either, over two files.
    assert patch_similarity(GOLD, diff("b.py", "-ab", "+cd")).score == 0.0
    assert patch_similarity(GOLD, GOLD + diff("b.py", "-ab", "+cd")).score == 0.5


def test_renamed_file_is_compared_under_its_old_name() -> None:
    def renamed(to: str) -> str:
        return f"diff --git a/one.py b/{to}\nsimilarity index 100%\nrename from one.py\nrename to {to}\n"

    assert patch_similarity(renamed("two.py"), renamed("two.py")).score == 1.0
    # "rename to two.py" against "rename to six.py": 16 characters, 13 of them in common.
    assert patch_similarity(renamed("two.py"), renamed("six.py")).score == pytest.approx(26 / 32)


def test_binary_files_are_ignored() -> None:
    picture = "diff --git a/i.png b/i.png\nindex 1111111..2222222 100644\nBinary files a/i.png and b/i.png differ\n"
    assert patch_similarity(GOLD, GOLD + picture).score == 1.0
    assert patch_similarity(picture, GOLD).score is None


@pytest.mark.parametrize("candidate", ["", "words", GOLD[:-5], "--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n"])
def test_malformed_patch_scores_0_or_nothing(candidate: str) -> None:
    assert patch_similarity(GOLD, candidate).score == 0.0
    assert patch_similarity(GOLD, candidate).problem
    for gold in ("", "words", candidate):
        assert patch_similarity(gold, candidate).score is None


def test_too_long_diffs_are_not_compared() -> None:
    long = diff("a.py").replace("+1", "+1,30000") + "+x\n" * 30_000
    long = long.replace("@@ -1 ", "@@ -0,0 ")
    found = patch_similarity(long, long.replace("+x", "+y"))
    assert found.score is None
    assert "too long" in found.problem


LINE = st.text(alphabet="ab ", max_size=4)


@settings(deadline=None)
@given(st.lists(LINE, min_size=1, max_size=5), st.lists(LINE, min_size=1, max_size=5))
def test_score_is_1_for_equal_patches_only(one: list[str], other: list[str]) -> None:
    def added(lines: list[str]) -> str:
        return f"--- /dev/null\n+++ b/a\n@@ -0,0 +1,{len(lines)} @@\n" + "".join(f"+{line}\n" for line in lines)

    score = patch_similarity(added(one), added(other)).score
    assert score is not None
    assert 0 <= score <= 1
    assert (score == 1) == (one == other)


TEXTS = {"a.py": "one\nab\n", "old.py": "x\n"}


def test_texts_are_compared_by_the_diffs_that_both_sides_leave() -> None:
    gold = "--- a/a.py\n+++ b/a.py\n@@ -2 +2 @@\n-ab\n+cd\n"
    assert text_similarity(gold, {"a.py": "one\ncd\n"}, TEXTS.get).score == 1.0
    # "@@ -1,2 +1,2 @@\n one\n-ab\n+cd" has 15+1+4+1+3+1+3 = 28 characters; "+ce" for "+cd" leaves 27 of them.
    assert text_similarity(gold, {"a.py": "one\nce"}, TEXTS.get).score == pytest.approx(54 / 56)
    assert text_similarity(gold, {"a.py": "one\ncd\n", "old.py": "y\n"}, TEXTS.get).score == 0.5
    assert text_similarity(gold, {"a.py": TEXTS["a.py"]}, TEXTS.get).score == 0.0


def test_gold_that_moves_removes_and_adds_files_leaves_texts_too() -> None:
    moved = "diff --git a/old.py b/new.py\nsimilarity index 100%\nrename from old.py\nrename to new.py\n"
    added = "diff --git a/b.py b/b.py\nnew file mode 100644\n--- /dev/null\n+++ b/b.py\n@@ -0,0 +1 @@\n+b\n"
    assert text_similarity(moved + added, {"old.py": "", "new.py": "x\n", "b.py": "b\n"}, TEXTS.get).score == 1.0
    assert text_similarity(moved + added, {"b.py": "b\n"}, TEXTS.get).score == pytest.approx(1 / 3)


@pytest.mark.parametrize("gold", ["", "words", "--- a/none.py\n+++ b/none.py\n@@ -1 +1 @@\n-a\n+b\n", GOLD])
def test_gold_that_does_not_fit_the_texts_gives_no_score(gold: str) -> None:
    found = text_similarity(gold, {"a.py": "new\n"}, {"a.py": "other\n"}.get)
    assert found.score is None
    assert found.problem
