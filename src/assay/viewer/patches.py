"""Patches as tables of lines, and one beside another, file by file."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from assay.harness.patches.diff import FileChange, Hunk, MalformedPatchError, read_diff
from assay.viewer.highlight import highlight, highlight_lines
from assay.viewer.text import cut_lines, readable, without_secrets

if TYPE_CHECKING:
    from markupsafe import Markup

LINES = 1500  # lines of a patch that are shown
LONGEST = 512 * 1024  # characters of a patch that are read; a longer one is shown as plain text, cut
_KINDS = {" ": "kept", "-": "removed", "+": "added", "\\": "note"}


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A line of a hunk, with its numbers in the old and the new file; 0 for none."""

    kind: str
    old: int
    new: int
    html: "Markup"


@dataclass(frozen=True, slots=True)
class ShownHunk:
    """A hunk and the text behind its ``@@``."""

    section: str
    lines: tuple[ShownLine, ...]


@dataclass(frozen=True, slots=True)
class ShownFile:
    """The change of one file."""

    path: str
    note: str
    """New, removed, renamed from; empty for a plain change."""
    added: int
    removed: int
    hunks: tuple[ShownHunk, ...]


@dataclass(frozen=True, slots=True)
class ShownPatch:
    """A patch by file, or its text if it is no diff that can be read."""

    files: tuple[ShownFile, ...] = ()
    text: "Markup | None" = None
    note: str = ""
    """What is left out, or why the patch is shown as text."""

    @property
    def is_empty(self) -> bool:
        return not self.files and not self.text


@dataclass(frozen=True, slots=True)
class FileBeside:
    """The changes that several patches make to one file; None for a patch that leaves it."""

    path: str
    sides: tuple[ShownFile | None, ...]


@lru_cache(maxsize=8)
def show_patch(text: str) -> ShownPatch:
    """Prepare any text as a patch, without secrets; never raises."""
    text = without_secrets(text)
    if not text.strip():
        return ShownPatch()
    if len(text) > LONGEST:
        return _show_text(text, f"the patch has {len(text):,} characters and is shown in part")
    try:
        changes = read_diff(text)
    except MalformedPatchError as error:
        return _show_text(text, f"this is no diff that can be read: {readable(str(error))[:200]}")
    if not changes:
        return _show_text(text, "this is no diff")
    files, left = [], LINES
    for change in changes:
        files.append(_file(change, left))
        left -= sum(len(hunk.lines) for hunk in files[-1].hunks)
    total = sum(len(hunk.lines) for change in changes for hunk in change.hunks)
    return ShownPatch(tuple(files), note=f"{total - LINES:,} more lines are not shown" if total > LINES else "")


def align_files(patches: Sequence[ShownPatch]) -> tuple[FileBeside, ...]:
    """Return the files of several patches side by side; files that the most patches change come first."""
    changes = [{file.path: file for file in patch.files} for patch in patches]
    paths = dict.fromkeys(path for each in changes for path in each)
    found = [FileBeside(path, tuple(each.get(path) for each in changes)) for path in paths]
    return tuple(sorted(found, key=lambda file: file.sides.count(None)))


def _show_text(text: str, note: str) -> ShownPatch:
    return ShownPatch(text=highlight(cut_lines(readable(text, LONGEST)), lexer="diff"), note=note)


def _file(change: FileChange, most: int) -> ShownFile:
    marks = [line.mark for hunk in change.hunks for line in hunk.lines]
    return ShownFile(
        path=readable(change.path),
        note=_note(change),
        added=marks.count("+"),
        removed=marks.count("-"),
        hunks=tuple(_show_hunks(change.hunks, change.path, most)),
    )


def _note(change: FileChange) -> str:
    if change.old is None:
        return "new file"
    if change.new is None:
        return "removed"
    if change.old != change.new:
        return f"renamed from {readable(change.old)}"
    return "" if change.hunks else "no change of text"


def _show_hunks(hunks: Sequence[Hunk], path: str, most: int) -> Iterator[ShownHunk]:
    for hunk in hunks:
        if most <= 0:
            return
        yield ShownHunk(readable(hunk.section), tuple(_lines(replace(hunk, lines=hunk.lines[:most]), path)))
        most -= len(hunk.lines)


def _lines(hunk: Hunk, path: str) -> Iterator[ShownLine]:
    sides = {mark: iter(highlight_lines(_side(hunk, mark), path)) for mark in "-+"}
    old, new = max(hunk.start, 1), max(hunk.new_start, 1)
    for line in hunk.lines:
        before, after = line.mark in " -", line.mark in " +"
        htmls = [next(sides[mark]) for mark, is_there in (("-", before), ("+", after)) if is_there]
        html = htmls[-1] if htmls else highlight(readable(line.text))
        yield ShownLine(_KINDS.get(line.mark, "note"), old * before, new * after, html)
        old, new = old + before, new + after


def _side(hunk: Hunk, mark: str) -> list[str]:
    """Return one side's lines, each fit to be shown in one line."""
    texts = hunk.old() if mark == "-" else hunk.new()
    return [cut_lines(readable(text.rstrip("\r")).replace("\n", "\u240d")) for text in texts]
