"""Texts between fences, as Markdown and language models write them."""

import re
from collections.abc import Iterator

_BLOCK = re.compile(
    r"^(?P<indent>[ \t]*)(?P<fence>(?P<mark>[`~])(?P=mark){2,})[ \t]*(?P<info>[^`\n]*)\n"
    r"(?P<text>.*?)(?:^[ \t]*(?P=fence)(?P=mark)*[ \t]*$|\Z)",
    re.MULTILINE | re.DOTALL,
)
_WHOLE = re.compile(r"\s*```[^\n]*\n(?P<text>.*?)\n?```\s*", re.DOTALL)


def fence(text: str, info: str = "") -> str:
    """Put a text into a fence that is longer than any in it."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{info}\n{text}\n{fence}"


def shorten(text: str, most: int) -> str:
    """Cut a text of more than ``most`` characters in the middle, and mark the cut."""
    if len(text) <= most:
        return text
    head = most * 2 // 3
    return f"{text[:head]}\n[... {len(text) - most} characters left out ...]\n{text[len(text) - (most - head) :]}"


def unfence(text: str) -> str:
    whole = _WHOLE.fullmatch(text)
    return whole["text"] if whole else text


def find_blocks(answer: str) -> Iterator[tuple[str, str]]:
    """Yield of each block the first word behind its fence, in lower case, and the text without its indentation.

    A block that is not closed, as where a model's answer was cut off, ends with the answer.
    """
    for block in _BLOCK.finditer(answer.replace("\r\n", "\n") + "\n"):
        indent = rf"^[ \t]{{0,{len(block['indent'])}}}"
        yield block["info"].strip().partition(" ")[0].lower(), re.sub(indent, "", block["text"], flags=re.MULTILINE)
