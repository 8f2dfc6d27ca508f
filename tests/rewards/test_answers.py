import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.rewards.answers import patch_of
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
    assert patch_of(answer) == expected


@given(st.text())
def test_any_text_is_an_answer(answer: str) -> None:
    assert patch_of(answer) in answer
