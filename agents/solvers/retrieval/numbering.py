"""Number lines for a prompt, and apply edits that quote numbered lines (SWE-Fixer). Pure."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from assay.harness.edits.file_edits import AppliedEdits, EditResult, FileEdit, apply_edits
from assay.harness.edits.matching import Match

_NUMBER = re.compile(r"^[ \t]*(\d+)\|")


@dataclass(frozen=True, slots=True)
class NumberedEdit:
    """An edit and the line numbers that it quotes, counted from 1; 0 for a quote without numbers."""

    edit: FileEdit
    first: int = 0
    last: int = 0


def number_lines(text: str) -> str:
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    return "\n".join(f"{number}|{line}" for number, line in enumerate(lines, start=1))


def strip_numbers(text: str) -> tuple[str, list[int]]:
    """Return a text without its line numbers, and those numbers; empty lines at the ends are removed."""
    lines = text.replace("\r\n", "\n").strip("\n").split("\n")
    found = [_NUMBER.match(line) for line in lines]
    bare = (line[match.end() :] if match else line for line, match in zip(lines, found, strict=True))
    return "\n".join(bare), [int(match[1]) for match in found if match]


def make_numbered_edit(path: str, original: str, edited: str) -> NumberedEdit:
    """Return the edit of an answer; line numbers are removed from both parts."""
    search, numbers = strip_numbers(original)
    replace, _ = strip_numbers(edited) if numbers else (edited.replace("\r\n", "\n").strip("\n"), [])
    return NumberedEdit(FileEdit(path, search, replace), min(numbers, default=0), max(numbers, default=0))


def apply_numbered(texts: Mapping[str, str], edits: Iterable[NumberedEdit]) -> AppliedEdits:
    """Apply edits from the end of the files to their start, so that line numbers stay right; equal ones once.

    A quote is searched first at its line numbers, then, since models miscount, in the whole file.
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
