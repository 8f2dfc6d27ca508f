import pytest
from hypothesis import given
from hypothesis import strategies as st

from answered import ANSWER, BROKEN, CALC, FILES, RIGHT, answer, block
from assay.harness.errors import EnvironmentFailure
from assay.harness.patches.diff import read_diff
from assay.rewards.answers import read_patch
from toy import GOLD

OTHER = GOLD.replace("a + b", "b + a")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("", ""),
        ("I give up.", "I give up."),
        (GOLD, GOLD),
        (f"Here:\n\n{GOLD}", GOLD),
        (f"```diff\n{GOLD}```", GOLD),
        (f"```\n{GOLD}```\nor better\n```patch\n{OTHER}```\nas `a + b`", OTHER),
        (f"```python\nprint(1)\n```\n```diff\n{GOLD}```\n```\nls\n```", GOLD),
        ("--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n", "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n"),
        ("a rule\n---\nno diff", "a rule\n---\nno diff"),
    ],
)
def test_the_patch_of_an_answer_is_its_last_quoted_diff_or_begins_with_its_first_diff_line(
    answer: str, expected: str
) -> None:
    assert read_patch(answer, FILES.get) == expected


@given(st.text())
def test_any_text_is_an_answer(answer: str) -> None:
    assert read_patch(answer, FILES.get) in answer


@pytest.mark.parametrize(
    "text",
    [
        ANSWER,
        RIGHT,
        f"I begin with a diff:\n```diff\n{OTHER}```\nNo, better:\n{RIGHT}",
        ANSWER.replace("It subtracts.", f"First\n```diff\n{OTHER}```"),
        ANSWER.replace("\n", "\r\n"),
    ],
)
def test_blocks_become_a_diff_of_the_base_commit(text: str) -> None:
    (change,) = read_diff(read_patch(text, FILES.get))
    assert (change.old, change.new) == ("calc.py", "calc.py")
    assert [line.mark + line.text for line in change.hunks[0].lines] == GOLD.splitlines()[4:]


def test_a_diff_behind_blocks_is_the_patch_and_one_inside_a_block_is_not() -> None:
    assert read_patch(f"{RIGHT}or, as a diff:\n```diff\n{OTHER}```\n", FILES.get) == OTHER
    kept = answer(block("fix.patch", "", GOLD))
    assert [each.path for each in read_diff(read_patch(kept, FILES.get))] == ["fix.patch"]


def test_new_files_and_lines_without_an_end_are_in_the_diff() -> None:
    texts = {"calc.py": CALC.rstrip()}
    patch = read_patch(answer(RIGHT, block("a b/new.py", "", "x = 1\n")), texts.get)
    assert [(each.old, each.new) for each in read_diff(patch)] == [(None, "a b/new.py"), ("calc.py", "calc.py")]
    assert patch.count("\\ No newline at end of file") == 2


@pytest.mark.parametrize(
    "name",
    sorted(BROKEN.keys() - {"a diff", "no block", "no thought", "no tags", "a tag twice", "tags in another order"}),
)
def test_blocks_that_do_not_apply_are_no_patch_and_say_why(name: str) -> None:
    untagged = BROKEN[name].partition("<solution>")[2].partition("</solution>")[0]
    for text in (BROKEN[name], f"```diff\n{OTHER}```\n{BROKEN[name]}", f"```diff\n{OTHER}```\n{untagged}"):
        assert "diff --git" not in read_patch(text, FILES.get)
    assert read_patch(BROKEN["lines that are not there"], FILES.get) == (
        "The search-and-replace blocks give no patch: calc.py: not applied: the lines to replace were not found\n"
    )


def test_a_draft_in_the_thought_is_no_patch() -> None:
    text = answer("I do not know.\n", thought=f"Perhaps\n```diff\n{OTHER}```")
    assert read_patch(text, FILES.get) == "\nI do not know.\n"


def test_files_that_cannot_be_read_are_no_fault_of_the_answer() -> None:
    def fail(_path: str) -> str:
        raise EnvironmentFailure("in no mirror")

    with pytest.raises(EnvironmentFailure):
        read_patch(ANSWER, fail)
    assert read_patch(GOLD, fail) == GOLD
