"""Markers with which SWE-bench's evaluation scripts fence the test output in a log.

The shell's trace of one, or its text, may follow words that have no line feed.
"""

import re

_BEGIN = r"(?:^(?:\++ : '?)?|(?<=\S)\++ : '?|[ \t]\++ : '|(?<=[^\s'\">]))"
_START = re.compile(_BEGIN + r">{5} Start Test Output'?\r?$", re.MULTILINE)
_END = re.compile(_BEGIN + r">{5} End Test Output'?\r?$", re.MULTILINE)


def cut_fenced(text: str) -> str:
    """Return the text between the first start and the last end marker; the whole text if either is missing."""
    start = _START.search(text)
    ends = list(_END.finditer(text))
    if start is None or not ends or ends[-1].start() < start.end():
        return text
    return text[start.end() : ends[-1].start()]


def is_cut(text: str) -> bool:
    return _START.search(text) is not None and _END.search(text) is None
