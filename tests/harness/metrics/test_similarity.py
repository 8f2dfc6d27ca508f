"""Likeness of diffs, against values that were worked out by hand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.harness.metrics.similarity import answer_reward, patch_similarity

BEFORE = {"a.py": "x = 1\n    y = 2\nz = 3\n"}
AFTER = {"a.py": "x = 1\n    y = 5\nz = 3\n"}


def block(path: str, search: str, replace: str) -> str:
    return f"### {path}\n<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n"


def answer(*blocks: str, thought: str = "I see.") -> str:
    return f"<think>{thought}</think>\n<solution>\n```\n{''.join(blocks)}```\n</solution>"


def diff(path: str, *lines: str) -> str:
    return f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@ def f():\n" + "".join(
        f"{line}\n" for line in lines
    )


def test_the_same_change_is_one() -> None:
    for search, replace in (("    y = 2\n", "    y = 5\n"), ("x = 1\n    y = 2\n", "x = 1\n    y = 5\n")):
        assert answer_reward(answer(block("a.py", search, replace)), BEFORE, AFTER).score == 1.0


def test_one_letter_off() -> None:
    # Both diffs are "@@ -1,3 +1,3 @@\n x = 1\n-    y = 2\n+    y = 5\n z = 3": 15+1+6+1+10+1+10+1+6 = 51 characters,
    # of which all but the one that is 6 instead of 5 match: 2 * 50 / (51 + 51).
    found = answer_reward(answer(block("a.py", "    y = 2\n", "    y = 6\n")), BEFORE, AFTER)
    assert found.score == pytest.approx(100 / 102)


def test_the_mean_is_over_all_files_of_either_side() -> None:
    before = {**BEFORE, "b.py": "b\n", "c.py": "c\n"}
    after = {**AFTER, "c.py": "C\n"}
    right, strange = block("a.py", "    y = 2\n", "    y = 5\n"), block("b.py", "b\n", "B\n")
    assert answer_reward(answer(right), before, after).score == pytest.approx(1 / 2)
    assert answer_reward(answer(right, strange), before, after).score == pytest.approx(1 / 3)


def test_a_new_file_has_an_empty_search() -> None:
    found = answer_reward(answer(block("new.py", "", "n = 1\n")), BEFORE, {"new.py": "n = 1\n"})
    assert found.score == 1.0


def test_blocks_follow_each_other() -> None:
    steps = block("a.py", "x = 1\n", "x = 9\n"), block("a.py", "x = 9\n    y = 2\n", "x = 1\n    y = 5\n")
    assert answer_reward(answer(*steps), BEFORE, AFTER).score == 1.0


GOOD = block("a.py", "    y = 2\n", "    y = 5\n")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (GOOD, "<think> and </think> must stand there once each"),
        (answer(GOOD) + answer(GOOD), "<think> and </think> must stand there once each"),
        (f"<think>x</think>{GOOD}", "<solution> and </solution> must"),
        (f"<think>x</think></solution>{GOOD}<solution>", "</solution> comes before <solution>"),
        (answer(GOOD, thought=" \n"), "the thought is empty"),
        (answer(), "there is no search/replace block"),
        (answer(GOOD.replace("=======\n", "")), "there is no search/replace block"),
        (answer(GOOD.removeprefix("### a.py\n")), "a block names no file"),
        (answer(block("a.py", "    y = 2\n", "    y = 2\n")), "a.py: a block changes nothing"),
        (answer(block("a.py", "y = 2\n", "y = 5\n")), "a.py: the searched lines are not in the file"),
        (answer(block("a.py", "    y = 2\nz\n", "\n")), "a.py: the searched lines are not in the file"),
        (answer(block("b.py", "    y = 2\n", "\n")), "b.py: the searched lines are not in the file"),
        (answer(block("a.py", "", "y\n")), "a.py: the searched lines are not in the file"),
    ],
)
def test_a_wrong_form_is_minus_one(text: str, problem: str) -> None:
    found = answer_reward(text, BEFORE, AFTER)
    assert found.score == -1.0
    assert found.problem.startswith(problem)


def test_a_change_that_is_taken_back_is_nothing() -> None:
    back = block("a.py", "    y = 5\n", "    y = 2\n")
    assert answer_reward(answer(GOOD, back), BEFORE, AFTER).score == 0.0


def test_nothing_to_compare_with_is_no_score() -> None:
    assert answer_reward(answer(GOOD), BEFORE, BEFORE).score is None


def test_a_file_may_end_without_a_line_feed() -> None:
    before = {"a.py": "x = 1\ny = 2"}
    assert answer_reward(answer(block("a.py", "y = 2\n", "y = 3\n")), before, {"a.py": "x = 1\ny = 3"}).score == 1.0


GOLD = diff("a.py", "-ab", "+cd")


def test_the_same_patch_is_one_whatever_stands_around_the_hunks() -> None:
    assert patch_similarity(GOLD, GOLD.replace(" def f():", "").replace("diff --git a/a.py b/a.py\n", "")).score == 1.0


def test_patches_by_hand() -> None:
    # "@@ -1,1 +1,1 @@\n-ab\n+cd" has 15+1+3+1+3 = 23 characters; "+ce" for "+cd" leaves 22 of them: 44 / 46.
    assert patch_similarity(GOLD, diff("a.py", "-ab", "+ce")).score == pytest.approx(44 / 46)
    # Another file: nothing in common with either, over two files.
    assert patch_similarity(GOLD, diff("b.py", "-ab", "+cd")).score == 0.0
    assert patch_similarity(GOLD, GOLD + diff("b.py", "-ab", "+cd")).score == 0.5


def test_a_renamed_file_is_known_by_its_old_name() -> None:
    def renamed(to: str) -> str:
        return f"diff --git a/one.py b/{to}\nsimilarity index 100%\nrename from one.py\nrename to {to}\n"

    assert patch_similarity(renamed("two.py"), renamed("two.py")).score == 1.0
    # "rename to two.py" against "rename to six.py": 16 characters, 13 of them in common.
    assert patch_similarity(renamed("two.py"), renamed("six.py")).score == pytest.approx(26 / 32)


def test_binary_files_count_for_nothing() -> None:
    picture = "diff --git a/i.png b/i.png\nindex 1111111..2222222 100644\nBinary files a/i.png and b/i.png differ\n"
    assert patch_similarity(GOLD, GOLD + picture).score == 1.0
    assert patch_similarity(picture, GOLD).score is None


@pytest.mark.parametrize("candidate", ["", "words", GOLD[:-5], "--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n"])
def test_what_cannot_be_read_is_never_like_anything(candidate: str) -> None:
    assert patch_similarity(GOLD, candidate).score == 0.0
    assert patch_similarity(GOLD, candidate).problem
    for gold in ("", "words", candidate):
        assert patch_similarity(gold, candidate).score is None


def test_what_is_too_long_is_said_and_not_waited_for() -> None:
    long = diff("a.py").replace("+1", "+1,30000") + "+x\n" * 30_000
    long = long.replace("@@ -1 ", "@@ -0,0 ")
    found = patch_similarity(long, long.replace("+x", "+y"))
    assert found.score is None
    assert "too long" in found.problem


LINE = st.text(alphabet="ab ", max_size=4)


@settings(deadline=None)
@given(st.lists(LINE, min_size=1, max_size=5), st.lists(LINE, min_size=1, max_size=5))
def test_any_two_patches(one: list[str], other: list[str]) -> None:
    def added(lines: list[str]) -> str:
        return f"--- /dev/null\n+++ b/a\n@@ -0,0 +1,{len(lines)} @@\n" + "".join(f"+{line}\n" for line in lines)

    score = patch_similarity(added(one), added(other)).score
    assert score is not None
    assert 0 <= score <= 1
    assert (score == 1) == (one == other)
