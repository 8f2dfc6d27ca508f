"""Lines with their numbers, as the SWE-Fixer solver shows and gets them, and edits that quote such lines. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from assay.agents.solvers.shared.edits import AppliedEdits, EditResult, FileEdit, apply_edits
from assay.agents.solvers.shared.matching import Match

_NUMBER = re.compile(r"^[ \t]*(\d+)\|")


@dataclass(frozen=True, slots=True)
class NumberedEdit:
    """An edit, and the lines of the file that it quotes; they count from 1, and 0 is for a quote without numbers."""

    edit: FileEdit
    first: int = 0
    last: int = 0


def numbered(text: str) -> str:
    """Return a text with the number of each line and a bar before it; a last line end does not count as a line."""
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    return "\n".join(f"{number}|{line}" for number, line in enumerate(lines, start=1))


def without_numbers(text: str) -> tuple[str, list[int]]:
    """Return a text without the numbers of its lines, and those numbers; empty lines at its ends are left out."""
    lines = text.replace("\r\n", "\n").strip("\n").split("\n")
    found = [_NUMBER.match(line) for line in lines]
    bare = (line[match.end() :] if match else line for line, match in zip(lines, found, strict=True))
    return "\n".join(bare), [int(match[1]) for match in found if match]


def numbered_edit(path: str, original: str, edited: str) -> NumberedEdit:
    """Return an edit as the editor wrote it; numbers are taken off what takes the lines' place, too.

    Args:
        path: of the file.
        original: the lines to change, with their numbers.
        edited: the lines that take their place.
    """
    search, numbers = without_numbers(original)
    replace, _ = without_numbers(edited) if numbers else (edited.replace("\r\n", "\n").strip("\n"), [])
    return NumberedEdit(FileEdit(path, search, replace), min(numbers, default=0), max(numbers, default=0))


def apply_numbered(texts: Mapping[str, str], edits: Iterable[NumberedEdit]) -> AppliedEdits:
    """Apply edits from the end of the files to their start, so that the numbers stay true.

    The lines that the numbers name are looked at first; models miscount, so the whole file comes after that.

    Args:
        texts: path to text of the files.
        edits: what to do; equal ones are done once.
    """
    changed: dict[str, str] = {}
    results: list[EditResult] = []
    for each in sorted(dict.fromkeys(edits), key=lambda each: -each.first):
        path = each.edit.path
        now = {path: changed.get(path, texts.get(path))}
        applied = _apply(each, {path: text for path, text in now.items() if text is not None})
        changed |= applied.files
        results += applied.results
    return AppliedEdits({path: text for path, text in changed.items() if text != texts.get(path)}, tuple(results))


def _apply(each: NumberedEdit, files: Mapping[str, str]) -> AppliedEdits:
    if each.first:
        within = apply_edits(files, [each.edit], {each.edit.path: [(each.first, each.last)]})
        if not within.failed and all(result.match is not Match.FUZZY for result in within.results):
            return within
    return apply_edits(files, [each.edit])


def blank_only(before: str, after: str) -> bool:
    """Tell whether two texts differ in blank lines only."""
    return _filled(before) == _filled(after)


def _filled(text: str) -> Sequence[str]:
    return [line.rstrip() for line in text.split("\n") if line.strip()]
