"""Apply search-and-replace edits to files. No guess goes unreported.

An edit quotes lines and gives their replacement. ``matching`` finds the quote exactly, then ignoring white space, then
by similarity; the first kind of match with exactly one place wins. More than one place is ambiguous: nothing changes.
Where only equal lines count, as in SWE-RL, an edit applies in every place. ``edit_grammars`` reads answers.

If the model saw only some lines, an edit applies within those intervals alone (Agentless, Xia et al., 2024).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath

from assay.harness.edits.matching import Match, MatchedLines, goodness, reindent, search

Interval = tuple[int, int]  # first and last line, counted from 1, both included


@dataclass(frozen=True, slots=True)
class FileEdit:
    """Lines of a file and their replacement, without the last line end.

    An empty ``search`` makes a new file; an empty ``replace`` removes the lines.
    """

    path: str
    search: str
    replace: str


class EditProblem(StrEnum):
    """Why an edit was not applied."""

    NO_FILE = "there is no such file"
    NOT_FOUND = "the lines to replace were not found"
    AMBIGUOUS = "the lines to replace stand in more than one place"
    EMPTY_SEARCH = "no lines to replace were given, and the file has content"
    NO_CHANGE = "nothing would change"
    OUTSIDE = "the path leads out of the repository"


@dataclass(frozen=True, slots=True)
class EditResult:
    """Result of one edit: how and where it matched, or why it did not apply."""

    edit: FileEdit
    match: Match | None = None
    """None if the edit was not applied; a new file is an exact match."""
    line: int = 0
    """First replaced line, counted from 1 at the time of the edit; 0 if none was replaced."""
    problem: EditProblem | None = None
    lines: tuple[int, ...] = ()
    """Lines at which an ambiguous edit could apply."""

    def __str__(self) -> str:
        if self.problem is None:
            return f"{self.edit.path}: applied at line {self.line} ({self.match})"
        places = f" (lines {', '.join(map(str, self.lines))})" if self.lines else ""
        return f"{self.edit.path}: not applied: {self.problem}{places}"


@dataclass(frozen=True, slots=True)
class AppliedEdits:
    """New text of the files that changed, by path, and the result of every edit."""

    files: Mapping[str, str]
    results: tuple[EditResult, ...] = ()

    @property
    def failed(self) -> tuple[EditResult, ...]:
        return tuple(each for each in self.results if each.problem is not None)

    @property
    def fuzzy(self) -> tuple[EditResult, ...]:
        return tuple(each for each in self.results if each.match is Match.FUZZY)

    def report(self) -> str:
        return "\n".join(map(str, self.results))


def apply_edits(
    files: Mapping[str, str],
    edits: Sequence[FileEdit],
    intervals: Mapping[str, Sequence[Interval]] | None = None,
    *,
    exactly: bool = False,
) -> AppliedEdits:
    """Apply edits in order, each to the result of those before it; equal edits apply once.

    ``intervals`` maps a path to the lines, as in ``files``, that may be edited; a file that is not listed is open as a
    whole. ``exactly`` looks for equal lines only, and edits every place that has them.
    """
    opened: dict[str, _OpenFile] = {}
    results = []
    for edit in dict.fromkeys(edits):
        if edit.path not in opened:
            opened[edit.path] = _OpenFile(files.get(edit.path), (intervals or {}).get(edit.path, ()), exactly)
        results.append(opened[edit.path].apply(edit))
    texts = {path: file.text for path, file in opened.items()}
    return AppliedEdits(
        {path: text for path, text in texts.items() if text is not None and text != files.get(path)}, tuple(results)
    )


def merge_intervals(intervals: Sequence[Interval], length: int) -> list[Interval]:
    """Return sorted intervals, clipped to ``length`` lines; overlapping or adjacent ones are merged."""
    clipped = sorted((max(1, first), min(length, last)) for first, last in intervals)
    joined: list[Interval] = []
    for first, last in clipped:
        if first > last:
            continue
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        else:
            joined.append((first, last))
    return joined


def is_inside(path: str) -> bool:
    """Return whether a relative path stays inside the repository and outside ``.git``."""
    parts = PurePosixPath(path).parts
    return bool(parts) and not path.startswith("/") and not {"..", ".git"} & set(parts) and "\0" not in path


class _OpenFile:
    """A file under edit, cut into editable and locked parts.

    An edit changes the length of its part only, so that the intervals stay right for later edits.
    """

    def __init__(self, text: str | None, intervals: Sequence[Interval], exactly: bool) -> None:
        self._is_new = text is None
        self._exactly = exactly
        self._crlf = text is not None and "\r\n" in text and text.count("\r\n") == text.count("\n")
        lines = (text or "").replace("\r\n", "\n").split("\n") if self._crlf else (text or "").split("\n")
        self._parts = list(_cut(lines, merge_intervals(intervals, len(lines)) or [(1, len(lines))]))

    @property
    def text(self) -> str | None:
        """The present text; None if there is no file."""
        if self._is_new:
            return None
        lines = [line for _, part in self._parts for line in part]
        return ("\r\n" if self._crlf else "\n").join(lines)

    def apply(self, edit: FileEdit) -> EditResult:
        if not edit.search.strip():
            return self._create(edit)
        if self._is_new:
            return EditResult(edit, problem=EditProblem.NO_FILE)
        quoted, new = _lines(edit.search), _lines(edit.replace)
        match, found = self._find(quoted)
        if match is None:
            return EditResult(edit, problem=EditProblem.NOT_FOUND)
        before = [sum(len(lines) for _, lines in self._parts[:part]) for part, _ in found]
        at = tuple(lines + place.first + 1 for lines, (_, place) in reversed([*zip(before, found, strict=True)]))
        if len(found) > 1 and not self._exactly:
            return EditResult(edit, problem=EditProblem.AMBIGUOUS, lines=at)
        part, place = found[0]
        lines = self._parts[part][1]
        if match is not Match.EXACT:
            quoted, new = _strip_blank_edges(quoted, new)
            filled = (line for line in quoted if line.strip())
            new = reindent(new, list(zip(filled, (lines[index] for _, index in place.pairs), strict=True)))
        if lines[place.first : place.last] == new:
            return EditResult(edit, problem=EditProblem.NO_CHANGE)
        for part, place in _drop_overlapping(found):
            self._parts[part][1][place.first : place.last] = new
        return EditResult(edit, match, at[0])

    def _create(self, edit: FileEdit) -> EditResult:
        if self.text:
            return EditResult(edit, problem=EditProblem.EMPTY_SEARCH)
        if not is_inside(edit.path):
            return EditResult(edit, problem=EditProblem.OUTSIDE)
        if not edit.replace:
            return EditResult(edit, problem=EditProblem.NO_CHANGE)
        self._is_new = False
        self._parts = [(True, [*_lines(edit.replace), ""])]
        return EditResult(edit, Match.EXACT, 1)

    def _find(self, quoted: Sequence[str]) -> tuple[Match | None, list[tuple[int, MatchedLines]]]:
        """Return the strictest match that has a place, and its best places, from the end of the file to its start."""
        opened = [number for number, (is_open, _) in enumerate(self._parts) if is_open]
        for match in (Match.EXACT,) if self._exactly else Match:
            found = [(number, each) for number in opened for each in search(self._parts[number][1], quoted, match)]
            if found:
                best = max(goodness(place) for _, place in found)
                return match, [each for each in reversed(found) if goodness(each[1]) == best]
        return None, []


def _drop_overlapping(found: Sequence[tuple[int, MatchedLines]]) -> list[tuple[int, MatchedLines]]:
    """Return places, from the end of the file to its start; one that begins inside the one above is left out."""
    kept: list[tuple[int, MatchedLines]] = []
    for part, place in reversed(found):
        if not kept or kept[-1][0] != part or kept[-1][1].last <= place.first:
            kept.append((part, place))
    return kept[::-1]


def _cut(lines: list[str], intervals: Sequence[Interval]) -> Iterator[tuple[bool, list[str]]]:
    """Yield whether a part is editable and its lines, for all parts in order."""
    done = 0
    for first, last in intervals:
        yield False, lines[done : first - 1]
        yield True, lines[first - 1 : last]
        done = last
    yield False, lines[done:]


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").split("\n") if text else []


def _strip_blank_edges(quoted: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    """Return quote and replacement without the blank lines at the ends of the quote, which were not matched."""
    for edge in (0, -1):
        while quoted and not quoted[edge].strip():
            quoted = quoted[1:] if edge == 0 else quoted[:-1]
            if new and not new[edge].strip():
                new = new[1:] if edge == 0 else new[:-1]
    return quoted, new
