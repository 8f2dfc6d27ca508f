"""The changes of a patch that passes the gate, and the lines of a file that they change. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.harness.patches.diff import FileChange, Hunk, MalformedPatchError, read_diff
from assay.harness.patches.gate import gate


@dataclass(frozen=True, slots=True)
class Placed:
    """A file's change at its real place: line numbers from 1, without lines of white space."""

    after: str
    """The text after the patch; its last line always ends with a line feed."""
    removed: tuple[int, ...]
    added: tuple[int, ...]


def parse_patch(patch: str) -> tuple[FileChange, ...]:
    """Read a patch; empty text changes nothing. Raises MalformedPatchError, also for what ``patches.gate`` refuses."""
    return read_diff(gate(patch, allow_binary=True).text)


def place(change: FileChange, before: str | None) -> Placed:
    """Apply a change as ``git apply`` does: at the given line, or at the nearest match.

    ``before`` is None if the file does not exist. Raises MalformedPatchError if it must exist, or has no such lines.
    """
    if before is None and change.old is not None:
        raise MalformedPatchError(f"{change.old}: there is no such file")
    old = before.removesuffix("\n").split("\n") if before else []
    after: list[str] = []
    removed: list[int] = []
    added: list[int] = []
    done = 0
    for hunk, start in _place_hunks(change, old):
        after += old[done:start]
        done = start
        for line in hunk.lines:
            done += line.mark in " -"
            if line.mark in " +":
                after.append(line.text)
            if line.text.strip() and line.mark == "+":
                added.append(len(after))
            elif line.text.strip() and line.mark == "-":
                removed.append(done)
    return Placed("".join(f"{line}\n" for line in [*after, *old[done:]]), tuple(removed), tuple(added))


def _place_hunks(change: FileChange, old: Sequence[str]) -> Iterator[tuple[Hunk, int]]:
    """Yield each hunk with the index in the old text where it starts, from 0."""
    lowest = shift = 0
    for hunk in change.hunks:
        wanted = list(hunk.old())
        start = hunk.start - bool(wanted)
        expected = start + shift
        places = (at for at in _search_outwards(expected, lowest, len(old) - len(wanted)) if _matches(old, at, wanted))
        found = next(places, None)
        if found is None:
            raise MalformedPatchError(f"{change.base_path}: no lines like those of the hunk at line {start + 1}")
        yield hunk, found
        shift, lowest = found - start, found + len(wanted)


def _matches(old: Sequence[str], at: int, wanted: Sequence[str]) -> bool:
    return all(old[at + number] == line for number, line in enumerate(wanted))


def _search_outwards(middle: int, lowest: int, highest: int) -> Iterator[int]:
    yield from [middle] if lowest <= middle <= highest else []
    for distance in range(1, max(middle - lowest, highest - middle) + 1):
        for at in (middle - distance, middle + distance):
            if lowest <= at <= highest:
                yield at
