"""The patch in a model's answer."""

import re

_FENCED = re.compile(r"^```[^\n]*\n(?P<content>.*?)^```", re.MULTILINE | re.DOTALL)
_BEGIN = re.compile(r"^(?:diff --git |--- (?:a/|/dev/null))", re.MULTILINE)


def patch_of(answer: str) -> str:
    """Return the patch that an answer gives: its last fenced block that is a diff, else from its first diff line on.

    An answer without a diff is returned as it is, which is a rejected patch; one without text is an empty patch.
    """
    quoted = [match["content"] for match in _FENCED.finditer(answer) if _BEGIN.search(match["content"])]
    if quoted:
        return str(quoted[-1])
    begin = _BEGIN.search(answer)
    return answer[begin.start() :] if begin else answer
