"""The patch in a model's answer."""

import re

_FENCED = re.compile(r"^```[^\n]*\n(?P<content>.*?)^```", re.MULTILINE | re.DOTALL)
_BEGIN = re.compile(r"^(?:diff --git |--- (?:a/|/dev/null))", re.MULTILINE)


def patch_of(answer: str) -> str:
    """Return the last fenced block of an answer that is a diff, else the text from its first diff line on.

    An answer without a diff is returned unchanged: a rejected patch, or an empty one if it has no text.
    """
    quoted = [match["content"] for match in _FENCED.finditer(answer) if _BEGIN.search(match["content"])]
    if quoted:
        return str(quoted[-1])
    begin = _BEGIN.search(answer)
    return answer[begin.start() :] if begin else answer
