"""Read fenced code blocks from a model's answer. Pure."""

import re
from dataclasses import dataclass

_BLOCK = re.compile(r"^```(?P<info>[^\n]*)\n(?P<content>.*?)^```", re.MULTILINE | re.DOTALL)
_WHOLE = re.compile(r"\s*```[^\n]*\n(?P<content>.*?)\n?```\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A fenced block: the text after the opening fence, such as a language, and the lines inside."""

    info: str
    content: str


def blocks(text: str) -> tuple[CodeBlock, ...]:
    """Return the closed fenced blocks of a text, in order."""
    return tuple(CodeBlock(found["info"].strip(), found["content"]) for found in _BLOCK.finditer(text))


def unfenced(text: str) -> str:
    """Return a text without a fence around the whole of it."""
    whole = _WHOLE.fullmatch(text)
    return whole["content"] if whole else text
