"""A unified diff as files, hunks and lines, and back again. Pure."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from assay.harness.patches.gate import MalformedPatchError, touched_paths

_HUNK = re.compile(r"@@ -([0-9]+)(?:,([0-9]+))? \+[0-9]+(?:,([0-9]+))? @@(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a hunk; ``mark`` is a space, ``+``, ``-``, or a backslash where git tells of a missing line feed."""

    mark: str
    text: str


@dataclass(frozen=True, slots=True)
class Hunk:
    """A place that is changed: where it begins in the old file, and what git shows behind the ``@@``."""

    start: int
    section: str
    lines: tuple[Line, ...]

    def old(self) -> Iterator[str]:
        """Yield the lines of the old file."""
        return (line.text for line in self.lines if line.mark in " -")

    def new(self) -> Iterator[str]:
        """Yield the lines of the new file."""
        return (line.text for line in self.lines if line.mark in " +")

    def added(self) -> Iterator[str]:
        """Yield the lines that come in."""
        return (line.text for line in self.lines if line.mark == "+")


@dataclass(frozen=True, slots=True)
class FileChange:
    """What a diff does to one file."""

    path: str
    """The new name; of a deleted file, the old one."""
    head: tuple[str, ...]
    """The lines above the hunks, as they are."""
    hunks: tuple[Hunk, ...]

    def added(self) -> Iterator[str]:
        """Yield the lines that come in."""
        return (text for hunk in self.hunks for text in hunk.added())


def parse(text: str) -> tuple[FileChange, ...]:
    """Read a unified diff, git's or plain.

    Raises:
        MalformedPatchError: a hunk is cut off or broken, or there are hunks without a file.
    """
    found: list[FileChange] = []
    head: list[str] = []
    hunks: list[Hunk] = []
    lines = iter(text.removesuffix("\n").split("\n") if text else ())
    for line in lines:
        match = _HUNK.match(line)
        if match:
            hunks.append(_read_hunk(match, lines))
        elif line.startswith("\\") and hunks:  # behind the last line, which the header's figures count already
            hunks[-1] = Hunk(hunks[-1].start, hunks[-1].section, (*hunks[-1].lines, Line("\\", line[1:])))
        else:
            if _begins_a_file(line, head, hunks):
                found.append(_file(head, hunks))
                head, hunks = [], []
            head.append(line)
    if hunks or touched_paths("\n".join(head)):
        found.append(_file(head, hunks))
    return tuple(found)


def render(changes: Iterable[FileChange]) -> str:
    """Write changes as a diff whose hunk headers fit the lines; files without any hunk keep their header lines."""
    return "".join(f"{line}\n" for change in changes for line in _rendered(change))


def _begins_a_file(line: str, head: list[str], hunks: list[Hunk]) -> bool:
    if line.startswith("diff --git "):
        return bool(hunks or touched_paths("\n".join(head)))
    return line.startswith("--- ") and bool(hunks)


def _file(head: list[str], hunks: list[Hunk]) -> FileChange:
    paths = touched_paths("\n".join(head))
    if not paths:
        raise MalformedPatchError("a hunk without a file header")
    return FileChange(paths[-1], tuple(head), tuple(hunks))


def _read_hunk(match: re.Match[str], lines: Iterator[str]) -> Hunk:
    old, new = int(match[2] or 1), int(match[3] or 1)
    found: list[Line] = []
    while old > 0 or new > 0:
        line = next(lines, None)
        if line is None:
            raise MalformedPatchError("the last hunk is cut off")
        mark, text = line[:1] or " ", line[1:]
        if mark == "\r":
            mark, text = " ", "\r"
        if mark not in " +-\\":
            raise MalformedPatchError(f"a hunk is shorter than its header says, before {line[:60]!r}")
        found.append(Line(mark, text))
        old -= mark in " -"
        new -= mark in " +"
    return Hunk(int(match[1]), match[4], tuple(found))


def _rendered(change: FileChange) -> Iterator[str]:
    yield from change.head
    shift = 0
    for hunk in change.hunks:
        old, new = sum(1 for _ in hunk.old()), sum(1 for _ in hunk.new())
        first = hunk.start + (old == 0)  # git numbers an empty side by the line before it
        yield f"@@ -{_range(hunk.start, old)} +{_range(first + shift - (new == 0), new)} @@{hunk.section}"
        yield from (line.mark + line.text for line in hunk.lines)
        shift += new - old


def _range(start: int, count: int) -> str:
    return str(start) if count == 1 else f"{start},{count}"
