"""A patch that changes the files of another and nothing that they do. Pure.

A test of the change of a file, and not of what it does, passes with it as with the other patch.
"""

import re
from collections.abc import Iterator
from hashlib import sha256

from assay.harness.languages.base import Lines
from assay.harness.patches.diff import FileChange, Hunk, HunkLine, read_diff, render

PLAIN = re.compile(r"[\w./+-]+")  # paths that git does not quote
_STATEMENT = re.compile(r"(\s*)(?:async def|def|class|return|raise|import|assert|del|try|while|with)\b")
"""Begins a line of Python before which another statement can stand, unless the line above continues in it."""
_CONTINUED = re.compile(r"^\s*@|[(,\\]$")


def make_lookalike(patch: str, lines: Lines) -> str:
    """Return a patch that changes the layout, the comments and the syntax tree of each file that another one changes.

    It adds a blank line, a comment and, where language and hunks have a place for it, an empty statement. A file that
    the other makes, removes or moves is left out; the result is empty if none is left.
    """
    return render(filter(None, (_disguise(change, lines) for change in read_diff(patch))))


def _disguise(change: FileChange, lines: Lines) -> FileChange | None:
    path = change.path
    kept = [(hunk, [*_old(hunk)]) for hunk in change.hunks]
    if change.old != change.new or not any(old for _, old in kept) or not PLAIN.fullmatch(path):
        return None
    hunk, old, at, indent = _choose_place(kept, lines)
    word = sha256(path.encode()).hexdigest()[:12]
    new = ["", f"{indent or ''}{lines.comments[0]} {word}"]
    if indent is not None:
        new.append(f"{indent}{lines.empty_statement}")
    whole = (*old[:at], *(HunkLine("+", text) for text in new), *old[at:])
    head = (f"diff --git a/{path} b/{path}", f"--- a/{path}", f"+++ b/{path}")
    return FileChange(path, path, head, (Hunk(hunk.start, hunk.start, "", whole),))


def _choose_place(
    kept: list[tuple[Hunk, list[HunkLine]]], lines: Lines
) -> tuple[Hunk, list[HunkLine], int, str | None]:
    """Choose a hunk, its old lines and the line before which to add; no indent where no statement can stand."""
    for hunk, old in kept if lines.empty_statement else ():
        for at, line in enumerate(old):
            is_continued = at == 0 or _CONTINUED.search(old[at - 1].text)
            if (found := _STATEMENT.match(line.text)) and not is_continued:
                return hunk, old, at, found[1]
    hunk, old = next(each for each in kept if each[1])
    return hunk, old, 0, None


def _old(hunk: Hunk) -> Iterator[HunkLine]:
    """Yield the old lines as lines that stay, with what says that the last has no line feed."""
    last = "+"
    for line in hunk.lines:
        if line.mark in " -":
            yield HunkLine(" ", line.text)
        elif line.mark == "\\" and last in " -":
            yield line
        last = line.mark
