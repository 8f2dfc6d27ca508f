"""Texts between fences: written, and read out of a model's answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.fences import fence, find_blocks, shorten, unfence


@given(st.text("a`~\n ", max_size=60), st.sampled_from(["", "python", "diff"]))
def test_fence_is_longer_than_any_in_its_text(text: str, info: str) -> None:
    (block,) = find_blocks(fence(text, info))
    assert block == (info, f"{text}\n")


@given(st.text(max_size=200), st.integers(1, 100))
def test_long_text_is_cut_in_the_middle(text: str, most: int) -> None:
    cut = shorten(text, most)
    if len(text) <= most:
        assert cut == text
    else:
        head, _, tail = cut.partition(f"\n[... {len(text) - most} characters left out ...]\n")
        assert len(head) + len(tail) == most
        assert text.startswith(head)
        assert text.endswith(tail)


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("It is so:\n```python\nx = 1\n\ny = 2\n```\nDone.", [("python", "x = 1\n\ny = 2\n")]),
        ("```\na\n```\n``` sh \nb\n```", [("", "a\n"), ("sh", "b\n")]),
        ('```json\n{}\n```\nand\n```py\nx = "```"\n```', [("json", "{}\n"), ("py", 'x = "```"\n')]),
        ("1. A list:\n   ```Python title\n   if x:\n       y\n   ```\n", [("python", "if x:\n    y\n")]),
        ("```\n```", [("", "")]),
        ("```python\r\nx = 1\r\n```\r\n", [("python", "x = 1\n")]),
        ("```python\nnot closed", [("python", "not closed\n")]),
        ("a word ```in``` a line", []),
        ("", []),
    ],
)
def test_blocks_of_an_answer_are_found_in_order(answer: str, found: list[tuple[str, str]]) -> None:
    assert list(find_blocks(answer)) == found


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("```python\nx = 1\n```", "x = 1"),
        ("\n ```\n    x = 1\n\n```\n", "    x = 1\n"),
        ("```\nx = 1```", "x = 1"),
        ("```\na\n```\nb\n```\nc\n```", "a\n```\nb\n```\nc"),
        ("x = 1\n", "x = 1\n"),
        ("before\n```\nx = 1\n```", "before\n```\nx = 1\n```"),
    ],
)
def test_unfenced_removes_a_fence_around_the_whole_text(text: str, content: str) -> None:
    assert unfence(text) == content
