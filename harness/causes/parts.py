"""A patch taken apart into lines, and put together again from some of them. Pure."""

import hashlib
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, replace
from typing import NamedTuple

from assay.harness.patches.diff import FileChange, Hunk, HunkLine, read_diff, render

HEAD = -1
_CLOSING = ("}", ")", "]", "end")  # begin lines that belong to the block above


class Atom(NamedTuple):
    """One changed line of a patch by its place, or, with ``HEAD`` for hunk and line, the rest of a file's change."""

    file: int
    hunk: int = HEAD
    line: int = HEAD


Kept = frozenset[Atom]


@dataclass(frozen=True, slots=True)
class PatchParts:
    """The files of a patch; every set of atoms stands for a part of it."""

    files: tuple[FileChange, ...]

    @property
    def whole(self) -> Kept:
        return frozenset(self._list_atoms())

    def split_hunks(self, kept: Kept) -> tuple[Kept, ...]:
        """Return a part's hunks in their order; a file's rename, mode, removal or binary data is one by itself."""
        hunks: dict[tuple[int, int], set[Atom]] = {}
        for atom in sorted(kept):
            hunks.setdefault((atom.file, atom.hunk), set()).add(atom)
        return tuple(map(frozenset, hunks.values()))

    def split_lines(self, kept: Kept) -> tuple[Kept, ...]:
        return tuple(frozenset({atom}) for atom in sorted(kept))

    def split_blocks(self, kept: Kept) -> tuple[Kept, ...]:
        """Return runs of lines that begin together and are indented further, such as a function: alone none can go."""
        blocks: list[set[Atom]] = []
        first: int | None = None  # indentation of the last block
        last, mark = Atom(HEAD), ""
        for atom in sorted(kept):
            line = next(iter(self.list_lines(frozenset({atom}))), HunkLine("", ""))
            text = line.text.strip()
            indent = len(line.text) - len(line.text.lstrip())
            follows = atom == last._replace(line=last.line + 1) and line.mark == mark
            is_below = not text or first is None or indent > first or text.startswith(_CLOSING)
            if follows and is_below:
                blocks[-1].add(atom)
            else:
                blocks.append({atom})
                first = None
            if text and first is None:
                first = indent
            last, mark = atom, line.mark
        return tuple(map(frozenset, blocks))

    def get_path(self, atoms: Kept) -> str:
        """Return the path of the first file of a part."""
        return self.files[min(atoms).file].path

    def get_section(self, atoms: Kept) -> str:
        first = min(atoms)
        return "" if first.hunk == HEAD else self.files[first.file].hunks[first.hunk].section

    def list_lines(self, atoms: Kept) -> list[HunkLine]:
        """Return the changed lines of a part; of a file that is removed, none."""
        return [self.files[file].hunks[hunk].lines[line] for file, hunk, line in sorted(atoms) if hunk != HEAD]

    def render(self, kept: Kept) -> str:
        """Return a part as a diff: what is left out of a hunk is as it was before the patch."""
        return render(self._reduce(kept))

    def hash_tree(self, kept: Kept, unread: Set[str] = frozenset()) -> str:
        """Return the name of the tree that a part makes of the base tree; empty if it changes nothing.

        Parts with equal names make equal trees. ``unread`` are paths that are put back whatever a patch does to them.
        """
        found = [
            (change.old, change.new, *changes, *_list_facts(change))
            for change in self._reduce(kept)
            if change.path not in unread
            if (changes := [*_list_changes(change.hunks)]) or _has_head(change) or change.old is None
        ]
        return hashlib.sha256(repr(found).encode(errors="surrogatepass")).hexdigest() if found else ""

    def _list_atoms(self) -> Iterator[Atom]:
        for number, change in enumerate(self.files):
            if _has_head(change):
                yield Atom(number)
            if change.new is not None:
                for at, hunk in enumerate(change.hunks):
                    yield from (Atom(number, at, n) for n, line in enumerate(hunk.lines) if line.mark in "+-")

    def _reduce(self, kept: Kept) -> Iterator[FileChange]:
        """Yield the files of a part; the head of a file comes with any of its lines."""
        touched = {atom.file for atom in kept}
        for number, change in enumerate(self.files):
            if number not in touched:
                continue
            if change.new is None or not change.hunks:
                yield change
                continue
            reduced = (_reduce_hunk(hunk, number, at, kept) for at, hunk in enumerate(change.hunks))
            changed = (hunk for hunk in reduced if any(line.mark in "+-" for line in hunk.lines))
            yield replace(change, hunks=tuple(changed))


def take_apart(patch: str) -> PatchParts:
    """Raises MalformedPatchError."""
    return PatchParts(read_diff(patch))


def _has_head(change: FileChange) -> bool:
    """Return whether a file's change is more than the lines of its hunks, or of a new file's."""
    if change.new is None or not change.hunks:
        return True
    return (change.old is not None and change.old != change.new) or any(
        line.startswith("old mode ") for line in change.head
    )


def _list_facts(change: FileChange) -> list[str]:
    """Return the lines above the hunks without the names of contents, which a part does not have."""
    return [line for line in change.head if not line.startswith(("index ", "similarity ", "dissimilarity "))]


def _reduce_hunk(hunk: Hunk, file: int, at: int, kept: Kept) -> Hunk:
    lines: list[HunkLine] = []
    is_left = True
    for number, line in enumerate(hunk.lines):
        if line.mark == "\\":  # belongs to the line above it
            lines += [line] if is_left else []
            continue
        is_kept = line.mark == " " or Atom(file, at, number) in kept
        is_left = is_kept or line.mark == "-"
        if is_left:
            lines.append(line if is_kept else HunkLine(" ", line.text))
    return replace(hunk, lines=tuple(lines))


def _list_changes(hunks: Iterable[Hunk]) -> Iterator[tuple[object, ...]]:
    """Yield the old and new lines of hunks, without the lines that both begin and end with."""
    for hunk in hunks:
        old, new = ([*_list_side(hunk, side)] for side in (" -", " +"))
        begin = _count_alike(old, new)
        end = _count_alike(old[begin:][::-1], new[begin:][::-1])
        old, new = old[begin : len(old) - end], new[begin : len(new) - end]
        if old or new:
            yield hunk.start + begin, tuple(old), tuple(new)


def _list_side(hunk: Hunk, marks: str) -> Iterator[str]:
    """Yield the lines of one side, each with a line feed unless the file ends without one."""
    for line, after in zip(hunk.lines, (*hunk.lines[1:], None), strict=True):
        if line.mark in marks:
            yield line.text + ("" if after is not None and after.mark == "\\" else "\n")


def _count_alike(one: list[str], other: list[str]) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
