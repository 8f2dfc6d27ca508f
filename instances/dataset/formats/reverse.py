"""A patch turned round: applied to the tree that the first one makes, it gives back the tree from before. Pure.

Git can apply a patch backwards (``git apply -R``) but has no way to write that down as a patch.
"""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

_HUNK = re.compile(r"@@ -(\d+(?:,(\d+))?) \+(\d+(?:,(\d+))?) @@(.*)", re.DOTALL)
_INDEX = re.compile(r"index ([0-9a-f]+)\.\.([0-9a-f]+)(.*)", re.DOTALL)
_PAIRS = {
    "new file mode ": "deleted file mode ",
    "deleted file mode ": "new file mode ",
}
_SWAPPED = (("old mode ", "new mode "), ("rename from ", "rename to "), ("--- ", "+++ "))
_SIDES = str.maketrans("+-", "-+")


class IrreversibleError(ValueError):
    """The patch does not tell what was there before; the message goes on from "the patch"."""


def reverse(patch: str) -> str:
    """Return the patch that undoes a patch; undone twice, a patch that git wrote is the same text again.

    Raises:
        IrreversibleError: it has a binary file without the content from before, or a copy, or a hunk is cut off.
    """
    if not patch:
        return ""
    lines = deque(patch.split("\n"))
    ends_in_newline = lines[-1] == ""
    if ends_in_newline:
        lines.pop()
    return "\n".join(_reversed(lines)) + ("\n" if ends_in_newline else "")


def _reversed(lines: deque[str]) -> Iterator[str]:
    head: list[str] = []
    while lines:
        line = lines.popleft()
        hunk = _HUNK.match(line)
        if hunk:
            yield from _header(head)
            head = []
            yield f"@@ -{hunk[3]} +{hunk[1]} @@{hunk[5]}"
            yield from _body(lines, _Counts(int(hunk[2] or 1), int(hunk[4] or 1)))
        elif line == "GIT binary patch":
            yield from _header(head)
            head = []
            yield from (line, *_binary(lines))
        else:
            if line.startswith("diff --git "):
                yield from _header(head)
                head = []
            head.append(line)
    yield from _header(head)


def _header(lines: list[str]) -> list[str]:
    """Turn the lines before a file's hunks round; a value changes places with that of the line it belongs to."""
    if any(line.startswith(("Binary files ", "copy from ")) for line in lines):
        raise IrreversibleError(f"does not tell what was there before {lines[0][:80]!r}")
    turned = [_header_line(line) for line in lines]
    for first, second in _SWAPPED:
        places = {word: n for n, line in enumerate(lines) for word in (first, second) if line.startswith(word)}
        if len(places) == 2:
            here, there = lines[places[first]][len(first) :], lines[places[second]][len(second) :]
            turned[places[first]] = first + (_other_side(there) if first == "--- " else there)
            turned[places[second]] = second + (_other_side(here) if first == "--- " else here)
    return _renamed(turned)


def _header_line(line: str) -> str:
    for word, opposite in _PAIRS.items():
        if line.startswith(word):
            return opposite + line[len(word) :]
    index = _INDEX.match(line)
    return f"index {index[2]}..{index[1]}{index[3]}" if index else line


def _other_side(path: str) -> str:
    """Return a path of a ``---`` or ``+++`` line as the other one writes it."""
    quote = '"' if path.startswith('"') else ""
    bare = path.removeprefix(quote)
    for side, other in (("a/", "b/"), ("b/", "a/")):
        if bare.startswith(side):
            return quote + other + bare[len(side) :]
    return path


def _renamed(lines: list[str]) -> list[str]:
    """Write the names of a file that is renamed in their new order into its first line."""
    names = {word: line[len(word) :] for line in lines for word in _SWAPPED[1] if line.startswith(word)}
    if len(names) == 2 and lines[0].startswith("diff --git "):
        old, new = (_quoted(side, names[word]) for side, word in zip(("a/", "b/"), _SWAPPED[1], strict=True))
        return [f"diff --git {old} {new}", *lines[1:]]
    return lines


def _quoted(side: str, name: str) -> str:
    return f'"{side}{name[1:]}' if name.startswith('"') else side + name


@dataclass(slots=True)
class _Counts:
    """Lines that a hunk still has."""

    old: int
    new: int


@dataclass(slots=True)
class _Run:
    """Changed lines without an unchanged one between them."""

    removed: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    last: list[str] | None = None

    def add(self, line: str) -> None:
        """Put a changed line, already turned round, where it belongs."""
        self.last = self.removed if line.startswith("-") else self.added
        self.last.append(line)

    def flush(self) -> list[str]:
        """Return the lines as git orders them, removed ones first, and begin anew."""
        lines = [*self.removed, *self.added]
        self.removed, self.added, self.last = [], [], None
        return lines


def _body(lines: deque[str], left: _Counts) -> Iterator[str]:
    run = _Run()
    while left.old > 0 or left.new > 0:
        if not lines:
            raise IrreversibleError("ends in the middle of a hunk")
        line = lines.popleft()
        left.old -= line[:1] not in {"+", "\\"}
        left.new -= line[:1] not in {"-", "\\"}
        yield from _body_line(line, run)
    if lines and lines[0].startswith("\\"):
        yield from _body_line(lines.popleft(), run)
    yield from run.flush()


def _body_line(line: str, run: _Run) -> list[str]:
    """Return what can be written after one more line: a run of changed lines waits for its end."""
    if line[:1] in {"+", "-"}:
        run.add(line[0].translate(_SIDES) + line[1:])
    elif line.startswith("\\") and run.last is not None:
        run.last.append(line)
    else:
        return [*run.flush(), line]
    return []


def _binary(lines: deque[str]) -> Iterator[str]:
    """Return the two blocks of a binary file, there and back, in the other order."""
    blocks: list[list[str]] = []
    while lines and re.match(r"(?:literal|delta) \d+$", lines[0]):
        blocks.append([lines.popleft()])
        while lines and lines[0]:
            blocks[-1].append(lines.popleft())
        blocks[-1] += [lines.popleft()] if lines else []
    if len(blocks) != 2:
        raise IrreversibleError("has a binary file without its content from before")
    yield from (*blocks[1], *blocks[0])
