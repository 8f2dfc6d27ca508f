"""A patch that changes the files of another and nothing that they do. Pure."""

import re
from collections.abc import Iterator

from assay.harness.patches.diff import FileChange, Hunk, HunkLine, read_diff, render

PLAIN = re.compile(r"[\w./+-]+")  # paths that git does not quote


def add_blank_lines(patch: str) -> str:
    """Return a patch that adds a blank line to each file that another one changes, where its first hunk begins.

    A file that the other makes, removes or moves is left out; the result is empty if none is left.
    """
    return render(filter(None, map(_add_blank_line, read_diff(patch))))


def _add_blank_line(change: FileChange) -> FileChange | None:
    path = change.path
    if change.old != change.new or not change.hunks or not PLAIN.fullmatch(path):
        return None
    hunk = change.hunks[0]
    old = [*_old(hunk)]
    if not old:
        return None
    head = (f"diff --git a/{path} b/{path}", f"--- a/{path}", f"+++ b/{path}")
    return FileChange(path, path, head, (Hunk(hunk.start, hunk.start, "", (HunkLine("+", ""), *old)),))


def _old(hunk: Hunk) -> Iterator[HunkLine]:
    """Yield the old lines as lines that stay, with what says that the last has no line feed."""
    last = "+"
    for line in hunk.lines:
        if line.mark in " -":
            yield HunkLine(" ", line.text)
        elif line.mark == "\\" and last in " -":
            yield line
        last = line.mark
