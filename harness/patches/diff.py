"""The one reader of unified diffs, git's and plain ones, and their writer. Pure.

The package ``unidiff`` reads the hunks. The lines that git writes above them are read here, because unidiff misreads
some of them: ``tests/harness/patches/test_diff.py`` shows which.
"""

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unidiff.patch import PatchedFile, PatchSet

NOWHERE = "/dev/null"  # path in a header of a file that does not exist

_FILE = re.compile(r"^(?=diff --git )", re.MULTILINE)
"""Start of a file in a git diff. Every line of a hunk begins with its mark, so none looks like one."""
_FIRST_HUNK = re.compile(r"^(?=@@ )", re.MULTILINE)
_MARKER = re.compile(r"^\\.*", re.MULTILINE)
_MODES = re.compile(r"^(?:new|deleted) file mode .*\n", re.MULTILINE)
NO_LINE_FEED = r"\\ No newline at end of file"
_OLD_NAME = re.compile(r"(?P<mark>---|rename from|copy from) (?P<name>[^\t]*)")
_NEW_NAME = re.compile(r"(?P<mark>\+\+\+|rename to|copy to) (?P<name>[^\t]*)")
_NO_CONTENT = re.compile(r"^Binary files .* differ$", re.MULTILINE)
_ESCAPE = re.compile(rb'\\([0-7]{3}|[abtnvfr"\\])')
_ESCAPED = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}


class MalformedPatchError(ValueError):
    """The text is not a unified diff, or not one that may be applied; the message says why."""


class MiscountedHunkError(MalformedPatchError):
    """A hunk has more or fewer lines than its header says."""


@dataclass(frozen=True, slots=True)
class HunkLine:
    """One line of a hunk.

    ``mark`` is a space (kept), ``-`` (removed), ``+`` (added), or a backslash: the line above ends without a line feed.
    """

    mark: str
    text: str


@dataclass(frozen=True, slots=True)
class Hunk:
    """Consecutive lines of a file, each kept, removed or added."""

    start: int
    """Number of the first line in the old file, from 1; without any old line, of the line above it."""
    new_start: int
    """The same in the new file, as in the diff; ``render`` counts anew."""
    section: str
    """Text after the second ``@@``, in git's diffs the function around."""
    lines: tuple[HunkLine, ...]

    def old(self) -> Iterator[str]:
        return (line.text for line in self.lines if line.mark in " -")

    def new(self) -> Iterator[str]:
        return (line.text for line in self.lines if line.mark in " +")

    def added(self) -> Iterator[str]:
        return (line.text for line in self.lines if line.mark == "+")


@dataclass(frozen=True, slots=True)
class FileChange:
    """The change of one file; ``old`` is None for a new file, ``new`` for a removed one."""

    old: str | None
    new: str | None
    head: tuple[str, ...]
    """The lines above the hunks, unchanged."""
    hunks: tuple[Hunk, ...]

    @property
    def path(self) -> str:
        """The path after the change; of a removed file, the old one."""
        return self.new or self.old or ""

    @property
    def base_path(self) -> str:
        """The path before the change; of a new file, the new one."""
        return self.old or self.new or ""

    def added(self) -> Iterator[str]:
        return (text for hunk in self.hunks for text in hunk.added())

    def list_changed_lines(self) -> Iterator[int]:
        """Yield the numbers of added lines after the change, from 1, and of the lines behind removed ones."""
        for hunk in self.hunks:
            number = hunk.new_start
            for line in hunk.lines:
                if line.mark != " ":
                    yield number
                number += line.mark in " +"


@lru_cache(maxsize=32)
def read_diff(text: str) -> tuple[FileChange, ...]:
    """Read a unified diff, perhaps inside a letter; text without one has no changes. Raises MalformedPatchError."""
    if not text.endswith("\n"):
        text += "\n"
    found = (change for part in _FILE.split(text) for change in _read_part(part))
    return tuple(change for change in found if change.path)


def render(changes: Iterable[FileChange]) -> str:
    """Write changes as a diff; hunk headers are counted from the lines, and files without hunks keep their head."""
    return "".join(f"{line}\n" for change in changes for line in _render(change))


def leave_out(text: str, paths: Container[str]) -> str:
    """Return a git diff without some files; those whose name or mode changes stay. Raises MalformedPatchError."""
    kept = (part for part in _FILE.split(text) if not _is_content(read_diff(part), paths))
    return "".join(kept)


def _is_content(changes: Sequence[FileChange], paths: Container[str]) -> bool:
    """Return whether changes are of the contents of these files alone."""
    plain = (
        each.path == each.base_path and not re.search("mode 1007|new mode", "\n".join(each.head)) for each in changes
    )
    return bool(changes) and all(plain) and all(each.path in paths for each in changes)


def find_touched_paths(text: str) -> tuple[str, ...]:
    """Return the paths that a diff touches, old and new names, in order; raises MalformedPatchError."""
    return tuple(dict.fromkeys(path for change in read_diff(text) for path in (change.old, change.new) if path))


def paths_after(text: str) -> tuple[str, ...]:
    """Return the paths of the files that are there after a diff, in order; raises MalformedPatchError."""
    return tuple(dict.fromkeys(change.new for change in read_diff(text) if change.new))


def find_added_paths(text: str) -> tuple[str, ...]:
    """Return the paths of the files that a diff adds, in order; raises MalformedPatchError."""
    return tuple(change.path for change in read_diff(text) if change.old is None)


def apply_change(text: str, change: FileChange) -> str | None:
    """Return a file's text after a change, lines ended by a line feed; None if removed. Raises MalformedPatchError."""
    if change.new is None:
        return None
    old, new, at = text.split("\n"), list[str](), 0
    for hunk in change.hunks:
        before = [*hunk.old()]
        start = hunk.start - 1 if before else hunk.start
        if old[start : start + len(before)] != before:
            raise MalformedPatchError(f"a hunk of {change.path!r} does not fit line {hunk.start}")
        new += [*old[at:start], *hunk.new()]
        at = start + len(before)
    return "\n".join([*new, *old[at:]]).rstrip("\n") + "\n"


def drop_binary_hunks(text: str) -> str:
    """Return a diff without the binary files whose content it lacks: git refuses a patch with one.

    Such files come as assets, or not at all. A ``GIT binary patch`` contains the content and stays.
    """
    return "".join(part for part in _FILE.split(text) if not _NO_CONTENT.search(part))


def unescape(text: str) -> str:
    """Return a quoted path of git's, given without the quotes, with its escapes resolved."""
    if "\\" not in text:
        return text
    return _ESCAPE.sub(_character, text.encode(errors="replace")).decode(errors="replace")


def _character(escape: re.Match[bytes]) -> bytes:
    code = escape[1]
    return bytes([int(code, 8) & 0xFF]) if code.isdigit() else _ESCAPED.get(code, code)


def _read_part(part: str) -> list[FileChange]:
    """Read one file of a git diff, with plain diffs that may follow it; or a plain diff."""
    if not part.startswith("diff --git "):
        return [_file(_plain_head(file), _hunks(file)) for file in _parse(part)]
    first = _FIRST_HUNK.search(part)
    head = (part[: first.start()] if first else part).removesuffix("\n").split("\n")
    if first is None:
        return [_file(head, ())]
    own, *others = _read_part(f"--- a/own\n+++ b/own\n{part[first.start() :]}")
    return [_file(head, own.hunks), *others]


def _parse(text: str) -> "PatchSet":
    from unidiff.errors import UnidiffParseError
    from unidiff.patch import PatchSet

    try:
        # In other languages git says it in other words; a mode without a file above it is no error to git.
        return PatchSet(_MARKER.sub(NO_LINE_FEED, _MODES.sub("", text)))
    except (UnidiffParseError, ValueError) as error:  # the second for numbers of thousands of digits
        raise MalformedPatchError(f"not a unified diff: {str(error).strip()}") from error


def _plain_head(file: "PatchedFile") -> list[str]:
    above = [line.removesuffix("\n") for line in file.patch_info or ()]
    if file.is_binary_file:
        return above
    sides = (("---", file.source_file, file.source_timestamp), ("+++", file.target_file, file.target_timestamp))
    return above + [f"{mark} {path}" + (f"\t{time}" if time else "") for mark, path, time in sides]


def _hunks(file: "PatchedFile") -> tuple[Hunk, ...]:
    return tuple(
        Hunk(
            start=hunk.source_start,
            new_start=hunk.target_start,
            section=hunk.section_header.rstrip("\r"),
            lines=tuple(
                HunkLine(line.line_type, line.value.removesuffix("\n"))
                for line in hunk
                if line.line_type  # unidiff gives an empty one to a blank line after the hunk
            ),
        )
        for hunk in file
    )


def _file(head: Sequence[str], hunks: tuple[Hunk, ...]) -> FileChange:
    old = new = None
    for line in (each.removesuffix("\r") for each in head):
        if same := _same_name(line):
            old = new = unescape(same)
        elif named := _OLD_NAME.match(line):
            old = _path(named)
        elif named := _NEW_NAME.match(line):
            new = _path(named)
        elif line.startswith("new file mode "):
            old = None
        elif line.startswith("deleted file mode "):
            new = None
    return FileChange(old, new, tuple(head), hunks)


def _same_name(line: str) -> str:
    """Return the name that a ``diff --git`` line has twice, with its escapes; empty if it names two files."""
    for before, between, behind in (("diff --git a/", " b/", ""), ('diff --git "a/', '" "b/', '"')):
        length = (len(line) - len(before) - len(between) - len(behind)) // 2
        name = line[len(before) : len(before) + length]
        if line == f"{before}{name}{between}{name}{behind}":
            return name
    return ""


def _path(named: re.Match[str]) -> str | None:
    """Return the path that a header line names, relative to the tree; None for the file that is not there."""
    name = named["name"]
    if len(name) > 1 and name[0] == name[-1] == '"':
        name = unescape(name[1:-1])
    if name == NOWHERE:
        return None
    return name.partition("/")[2] or name if named["mark"] in ("---", "+++") else name


def _render(change: FileChange) -> Iterator[str]:
    yield from change.head
    shift = 0
    for hunk in change.hunks:
        old, new = sum(1 for _ in hunk.old()), sum(1 for _ in hunk.new())
        first = hunk.start + (old == 0)  # git numbers an empty side by the line before it
        section = hunk.section and f" {hunk.section}"
        yield f"@@ -{_range(hunk.start, old)} +{_range(first + shift - (new == 0), new)} @@{section}"
        yield from (line.mark + line.text for line in hunk.lines)
        shift += new - old


def _range(start: int, count: int) -> str:
    return str(start) if count == 1 else f"{start},{count}"
