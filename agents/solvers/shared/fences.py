"""Fenced blocks of code in what a model writes. Pure."""

import re
from dataclasses import dataclass

_BLOCK = re.compile(r"^```(?P<info>[^\n]*)\n(?P<content>.*?)^```", re.MULTILINE | re.DOTALL)
_WHOLE = re.compile(r"\s*```[^\n]*\n(?P<content>.*?)\n?```\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class FencedBlock:
    """A fenced block: what stands behind its opening fence, such as a language, and the lines up to the closing one."""

    info: str
    content: str


def blocks(text: str) -> tuple[FencedBlock, ...]:
    """Return the fenced blocks of a text, in order; one that is not closed is none."""
    return tuple(FencedBlock(found["info"].strip(), found["content"]) for found in _BLOCK.finditer(text))


def unfenced(text: str) -> str:
    """Return a text without the fence around the whole of it, or as it is if there is none."""
    whole = _WHOLE.fullmatch(text)
    return whole["content"] if whole else text
