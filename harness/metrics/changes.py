"""What a patch does to each file, and to which lines: read from the diff, and placed in the file's text."""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from assay.harness.patches.gate import MalformedPatchError, gate

__all__ = ["FileChange", "Hunk", "MalformedPatchError", "Placed", "place", "read_changes"]

NOWHERE = "/dev/null"
_HUNK = re.compile(r"@@ -(?P<old>[0-9]+)(?:,(?P<olds>[0-9]+))? \+(?P<new>[0-9]+)(?:,(?P<news>[0-9]+))? @@")
_SAME_NAME = re.compile(r'diff --git "?a/(.+?)"? "?b/\1"?$')


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that follow each other, each with what is done to it: ``" "`` kept, ``"-"`` removed, ``"+"`` added.

    ``start`` is the place of the first of them in the old file, from 0, if nothing was changed above.
    """

    start: int
    lines: tuple[tuple[str, str], ...]
    place: str
    """As the diff writes it, ``-old,count +new,count``."""

    @property
    def before(self) -> list[str]:
        """The lines that the hunk expects in the old file."""
        return [text for kind, text in self.lines if kind != "+"]


@dataclass(frozen=True, slots=True)
class FileChange:
    """What a patch does to one file; ``old`` is None for a new file and ``new`` for a removed one."""

    old: str | None
    new: str | None
    hunks: tuple[Hunk, ...]

    @property
    def path(self) -> str:
        """What the file is known by: its path before the patch, and that after it only where there was none."""
        return self.old or self.new or ""


@dataclass(frozen=True, slots=True)
class Placed:
    """A file's change where it really lies: line numbers from 1, and without the lines that are only white space."""

    after: str
    """The text after the patch, its last line with a line feed whether it has one or not."""
    removed: tuple[int, ...]
    """Lines of the old text."""
    added: tuple[int, ...]
    """Lines of the new text."""


def read_changes(patch: str) -> tuple[FileChange, ...]:
    """Read a unified diff; empty text changes nothing.

    Raises:
        MalformedPatchError: the text is no diff, is cut off, or may not be applied (``harness.patch``).
    """
    lines = iter(gate(patch, allow_binary=True).text.split("\n"))
    sections: list[_Section] = []
    for line in lines:
        hunk = _HUNK.match(line)
        if hunk and not sections:
            raise MalformedPatchError("a hunk stands before any file header")
        if hunk:
            sections[-1].hunks.append(_read_hunk(hunk, lines))
        else:
            _read_header(line.removesuffix("\r"), sections)
    return tuple(FileChange(each.old, each.new, tuple(each.hunks)) for each in sections if each.old or each.new)


def place(change: FileChange, before: str | None) -> Placed:
    """Apply a change to its file's text, as ``git apply`` does: exactly, or as near as the lines are found.

    Args:
        change: of one file.
        before: the file's text; None for a file that is not there.

    Raises:
        MalformedPatchError: the file is not there, or has no such lines.
    """
    if before is None and change.old is not None:
        raise MalformedPatchError(f"{change.old}: there is no such file")
    old = before.removesuffix("\n").split("\n") if before else []
    after: list[str] = []
    removed: list[int] = []
    added: list[int] = []
    done = 0
    for hunk, start in _with_places(change, old):
        after += old[done:start]
        done = start
        for kind, text in hunk.lines:
            done += kind != "+"
            if kind != "-":
                after.append(text)
            if text.strip() and kind != " ":
                (added if kind == "+" else removed).append(len(after) if kind == "+" else done)
    return Placed("".join(f"{line}\n" for line in [*after, *old[done:]]), tuple(removed), tuple(added))


def _with_places(change: FileChange, old: Sequence[str]) -> Iterator[tuple[Hunk, int]]:
    """Yield the hunks with where they start in the old text, from 0."""
    lowest = shift = 0
    for hunk in change.hunks:
        wanted = hunk.before
        expected = hunk.start + shift
        places = (at for at in _outwards(expected, lowest, len(old) - len(wanted)) if _stand_at(old, at, wanted))
        start = next(places, None)
        if start is None:
            raise MalformedPatchError(f"{change.path}: no lines like those of the hunk at line {hunk.start + 1}")
        yield hunk, start
        shift, lowest = start - hunk.start, start + len(wanted)


def _stand_at(old: Sequence[str], at: int, wanted: Sequence[str]) -> bool:
    return all(old[at + number] == line for number, line in enumerate(wanted))


def _outwards(middle: int, lowest: int, highest: int) -> Iterator[int]:
    yield from [middle] if lowest <= middle <= highest else []
    for distance in range(1, max(middle - lowest, highest - middle) + 1):
        for at in (middle - distance, middle + distance):
            if lowest <= at <= highest:
                yield at


@dataclass(slots=True)
class _Section:
    """What has been read of one file's part of a diff."""

    old: str | None = None
    new: str | None = None
    named: bool = False
    """Whether its ``---`` line was read."""
    hunks: list[Hunk] = field(default_factory=list)


def _read_header(line: str, sections: list[_Section]) -> None:
    """Take a line outside of hunks into account; most say nothing about which file is meant."""
    if line.startswith("diff --git "):
        same = _SAME_NAME.match(line)
        name = _unquoted(f'"{same[1]}"' if '"' in line else same[1]) if same else None
        sections.append(_Section(name, name))
    elif line.startswith("--- "):
        if not sections or sections[-1].named or sections[-1].hunks:
            sections.append(_Section())
        sections[-1].old, sections[-1].named = _path(line[4:]), True
    elif sections:
        _read_detail(line, sections[-1])


def _read_detail(line: str, section: _Section) -> None:
    if line.startswith("+++ "):
        section.new = _path(line[4:])
    elif line.startswith("rename from "):
        section.old = _unquoted(line[12:])
    elif line.startswith("rename to "):
        section.new = _unquoted(line[10:])
    elif line.startswith("new file mode "):
        section.old = None
    elif line.startswith("deleted file mode "):
        section.new = None


def _read_hunk(header: re.Match[str], lines: Iterator[str]) -> Hunk:
    """Read the lines of a hunk, as many as its header says; an empty one is a kept empty line to git too."""
    old, new = int(header["olds"] or 1), int(header["news"] or 1)
    start = int(header["old"]) - (1 if old else 0)
    place = f"-{header['old']},{old} +{header['new']},{new}"
    found: list[tuple[str, str]] = []
    while old > 0 or new > 0:
        line = next(lines)  # the gate has counted them
        kind = line[:1] if line[:1] in ("+", "-", "\\") else " "
        old -= kind in " -"
        new -= kind in " +"
        if kind != "\\":
            found.append((kind, line.removeprefix(kind)))
    return Hunk(start, tuple(found), place)


def _path(name: str) -> str | None:
    """Return a path of a header relative to the tree; None for the file that is not there."""
    name = _unquoted(name.partition("\t")[0])
    if name == NOWHERE:
        return None
    return name.partition("/")[2] or name


def _unquoted(name: str) -> str:
    """Return a path without git's quotes, which escape as C does, and as Python does in bytes."""
    if not (name.startswith('"') and name.endswith('"')):
        return name
    content: bytes = ast.literal_eval(f"b{name}") if name.isascii() else name[1:-1].encode()
    return content.decode(errors="replace")
