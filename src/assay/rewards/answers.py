"""The patch in a model's answer: a diff, or search-and-replace blocks."""

import re
from contextlib import suppress

from assay.harness.edits.solution import ReadText, WrongAnswerError, change_texts, read_edits, read_solution
from assay.instances.trees.diff import diff_texts

_FENCED = re.compile(r"^```[^\n]*\n(?P<content>.*?)^```", re.MULTILINE | re.DOTALL)
_BEGIN = re.compile(r"^(?:diff --git |--- (?:a/|/dev/null))", re.MULTILINE)
_BLOCK = re.compile(
    r"^<{5,9} ?SEARCH\s*$.*?(?:^>{5,9} ?REPLACE\s*$|(?=^<{5,9} ?SEARCH\s*$)|\Z)", re.MULTILINE | re.DOTALL
)
"""A block, also one without an end."""


def read_patch(answer: str, read_text: ReadText) -> str:
    """Return the patch that an answer gives, in its solution if it is tagged as SWE-RL's are.

    It is the last fenced block that is a diff, else the text from the first diff line on. Search-and-replace blocks
    become a diff, unless a diff comes behind them. A text without either is returned unchanged: a rejected patch, or an
    empty one. Blocks that do not apply give one line that says why, which is rejected, too, whatever else the answer
    has. Raises what ``read_text`` raises.
    """
    text = answer
    with suppress(WrongAnswerError):
        text = read_solution(answer)
    blocks = [*_BLOCK.finditer(text)]
    place, diff = _find_diff(text)
    if not blocks or place > blocks[-1].start():
        return diff or text
    try:
        return diff_texts(*change_texts(read_edits(text), read_text))
    except (WrongAnswerError, UnicodeEncodeError) as error:
        return f"The search-and-replace blocks give no patch: {' '.join(str(error).split())}\n"


def _find_diff(text: str) -> tuple[int, str]:
    """Return where the diff outside of blocks begins, and the diff; -1 and nothing if there is none."""
    bare = _BLOCK.sub(lambda block: " " * len(block[0]), text)
    quoted = [match for match in _FENCED.finditer(bare) if _BEGIN.search(match["content"])]
    begin = _BEGIN.search(bare)
    if quoted:
        start, end = quoted[-1].span("content")
    else:
        start, end = (begin.start(), len(text)) if begin else (-1, -1)
    return start, text[start:end]
