"""The patch in a model's answer: a diff, or search-and-replace blocks."""

import re
from contextlib import suppress

from assay.harness.edits.solution import ReadText, WrongAnswerError, change_texts, read_edits, read_solution
from assay.instances.trees.diff import diff_texts

_FENCED = re.compile(r"^```[^\n]*\n(?P<content>.*?)^```", re.MULTILINE | re.DOTALL)
_BEGIN = re.compile(r"^(?:diff --git |--- (?:a/|/dev/null))", re.MULTILINE)
_BLOCK = re.compile(r"^<{5,9} ?SEARCH\s*$(?:(?!^<{5,9} ?SEARCH).)*?^>{5,9} ?REPLACE\s*$", re.MULTILINE | re.DOTALL)


def read_patch(answer: str, read_text: ReadText) -> str:
    """Return the patch that an answer gives, in its solution if it is tagged as SWE-RL's are.

    It is the last fenced block that is a diff, else the text from the first diff line on. Search-and-replace blocks
    become a diff, unless a diff comes behind them. An answer without either, or whose blocks do not apply, is returned
    unchanged: a rejected patch, or an empty one if it has no text. Raises what ``read_text`` raises.
    """
    text = answer
    with suppress(WrongAnswerError):
        text = read_solution(answer)
    blocks = [*_BLOCK.finditer(text)]
    place, diff = _find_diff(text)
    if not blocks or place > blocks[-1].start():
        return diff or answer
    try:
        return diff_texts(*change_texts(read_edits(text), read_text))
    except (WrongAnswerError, UnicodeEncodeError):
        return answer


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
