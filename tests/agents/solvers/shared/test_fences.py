"""Fenced blocks in a model's answer."""

import pytest

from assay.agents.solvers.shared.fences import CodeBlock, blocks, unfenced


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It is so:\n```python\nx = 1\n\ny = 2\n```\nDone.", [CodeBlock("python", "x = 1\n\ny = 2\n")]),
        ("```\na\n```\n``` sh \nb\n```", [CodeBlock("", "a\n"), CodeBlock("sh", "b\n")]),
        (
            '```json\n{}\n```\nand\n```py\nx = "```"\n```',
            [CodeBlock("json", "{}\n"), CodeBlock("py", 'x = "```"\n')],
        ),
        ("```\n```", [CodeBlock("", "")]),
        ("```python\nnot closed", []),
        ("a word ```in``` a line", []),
        ("", []),
    ],
)
def test_blocks_are_the_closed_fences_in_order(text: str, found: list[CodeBlock]) -> None:
    assert list(blocks(text)) == found


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
    assert unfenced(text) == content
