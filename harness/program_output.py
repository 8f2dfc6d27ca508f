"""What a resolver or a builder printed when it failed, in a line. Pure."""

import re

_BEFORE = re.compile(r"\x1b\[[\d;]*m|^(?:#\d+ )?\d+\.\d+ |^[ \t\u00d7├╰─▶│]+", re.MULTILINE)
"""What stands before a message: colours, a builder's time, branches of a tree."""
_HINT = re.compile(r"^(?:hint|help|note|npm notice|\[notice\])\b.*(?:\n.+)*", re.MULTILINE | re.IGNORECASE)
_CAUSES = (
    (re.compile(r"\bBecause (.+?)(?:,? we can conclude|,? we can$|$)", re.MULTILINE), 0),
    (re.compile(r"^((?:\w+\.)*\w*(?:Error|Exception): .+)", re.MULTILINE), -1),
    (re.compile(r"^caused? by: (.+)|^cause: (.+)", re.MULTILINE | re.IGNORECASE), -1),
    (re.compile(r"^(?:npm (?:ERR!|error) (?!code|A comp)|error\b:?|fatal:|E:) *(.+)", re.MULTILINE | re.IGNORECASE), 0),
)
"""How resolvers and builders say why they failed, clearest first, and which match counts."""


def find_cause(output: str) -> str:
    """Return in one line why a program failed, by its output: no hint, and no error that follows; empty if unknown."""
    text = _HINT.sub("", _BEFORE.sub("", output.replace("\r", "")))
    found = ((pattern.findall(text), place) for pattern, place in _CAUSES)
    return next(("".join(matches[place]).strip() for matches, place in found if matches), "")


def cut_line(text: str, most: int = 80) -> str:
    """Return the first line that is not empty, in ``most`` characters."""
    line = text.strip().partition("\n")[0].rstrip()
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
