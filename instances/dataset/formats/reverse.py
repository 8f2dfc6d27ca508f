"""Reverses a patch: applied after the patch itself, the result gives back the original tree. Pure.

Git can apply a patch backwards (``git apply -R``) but cannot write the reverse as a patch.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace

from assay.harness.patches.diff import FileChange, HunkLine, MalformedPatchError, read_diff, render

_INDEX = re.compile(r"index ([0-9a-f]+)\.\.([0-9a-f]+)(.*)", re.DOTALL)
_PAIRS = {"new file mode ": "deleted file mode ", "deleted file mode ": "new file mode "}
_SWAPPED = (("old mode ", "new mode "), ("rename from ", "rename to "), ("--- ", "+++ "))
_SIDES = {"+": "-", "-": "+"}
BINARY = "GIT binary patch"


class IrreversibleError(ValueError):
    """The patch lacks content from before the change; the message continues "the patch"."""


def reverse(patch: str) -> str:
    """Return the patch that undoes a patch; reversed twice, a patch by git is the same. Raises IrreversibleError."""
    try:
        text = render(map(_reverse_change, read_diff(patch)))
    except MalformedPatchError as error:
        raise IrreversibleError(f"cannot be read: {error}") from error
    return text if patch.endswith("\n") else text.removesuffix("\n")


def _reverse_change(change: FileChange) -> FileChange:
    lines = list(change.head)
    binary = lines.index(BINARY) + 1 if BINARY in lines else len(lines)
    head = (*_header(lines[:binary]), *_binary(deque(lines[binary:])))
    hunks = (
        replace(hunk, start=hunk.new_start, new_start=hunk.start, lines=tuple(_body(hunk.lines)))
        for hunk in change.hunks
    )
    return FileChange(change.new, change.old, head, tuple(hunks))


def _header(lines: list[str]) -> list[str]:
    """Reverse the lines before a file's hunks; pairs such as ``---`` and ``+++`` swap their values."""
    if any(line.startswith(("Binary files ", "copy from ")) for line in lines):
        raise IrreversibleError(f"lacks the content from before {lines[0][:80]!r}")
    turned = [_header_line(line) for line in lines]
    for first, second in _SWAPPED:
        places = {word: n for n, line in enumerate(lines) for word in (first, second) if line.startswith(word)}
        if len(places) == 2:
            here, there = lines[places[first]][len(first) :], lines[places[second]][len(second) :]
            turned[places[first]] = first + (_other_side(there) if first == "--- " else there)
            turned[places[second]] = second + (_other_side(here) if first == "--- " else here)
    return _swap_names(turned)


def _header_line(line: str) -> str:
    for word, opposite in _PAIRS.items():
        if line.startswith(word):
            return opposite + line[len(word) :]
    index = _INDEX.match(line)
    return f"index {index[2]}..{index[1]}{index[3]}" if index else line


def _other_side(path: str) -> str:
    """Return a path of a ``---`` or ``+++`` line with the other line's prefix."""
    quote = '"' if path.startswith('"') else ""
    bare = path.removeprefix(quote)
    for side, other in (("a/", "b/"), ("b/", "a/")):
        if bare.startswith(side):
            return quote + other + bare[len(side) :]
    return path


def _swap_names(lines: list[str]) -> list[str]:
    names = {word: line[len(word) :] for line in lines for word in _SWAPPED[1] if line.startswith(word)}
    if len(names) == 2 and lines[0].startswith("diff --git "):
        old, new = (_quote_name(side, names[word]) for side, word in zip(("a/", "b/"), _SWAPPED[1], strict=True))
        return [f"diff --git {old} {new}", *lines[1:]]
    return lines


def _quote_name(side: str, name: str) -> str:
    return f'"{side}{name[1:]}' if name.startswith('"') else side + name


def _body(lines: Iterable[HunkLine]) -> Iterator[HunkLine]:
    """Yield the reversed lines of a hunk; in a run of changed lines the removed ones come first, as in git."""
    run: dict[str, list[HunkLine]] = {"-": [], "+": []}
    side = ""
    for line in lines:
        if line.mark in _SIDES:
            side = _SIDES[line.mark]
            run[side].append(replace(line, mark=side))
        elif line.mark == "\\" and side:
            run[side].append(line)
        else:
            yield from (*run["-"], *run["+"], line)
            run, side = {"-": [], "+": []}, ""
    yield from (*run["-"], *run["+"])


def _binary(lines: deque[str]) -> Iterator[str]:
    if not lines:
        return
    blocks: list[list[str]] = []
    while lines and re.match(r"(?:literal|delta) \d+$", lines[0]):
        blocks.append([lines.popleft()])
        while lines and lines[0]:
            blocks[-1].append(lines.popleft())
        blocks[-1] += [lines.popleft()] if lines else []
    if len(blocks) != 2:
        raise IrreversibleError("has a binary file without its old content")
    yield from (*blocks[1], *blocks[0])
