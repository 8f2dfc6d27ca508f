"""How like the gold patch a patch is, character by character: the reward of SWE-RL (arXiv 2502.18449).

A patch that solves the issue in another way scores low, and one that is a word off scores high: it is a measure of
likeness, and says nothing about being right. What we guard against is told in ``docs/metrics.md``.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher, unified_diff

from assay.harness.domain import Model
from assay.harness.metrics.changes import FileChange, Hunk, MalformedPatchError, read_changes

WRONG_FORMAT = -1.0
"""Reward of an answer that does not have the form that was asked for."""
TOO_LONG = 400_000_000
"""Product of two lengths from which on two diffs are not compared: about 3 s at this size, growing with it."""
TAGS = ("think", "solution")
_PATH_OR_BLOCK = re.compile(
    r"^### (?P<path>[^\n]+)$|^<{7} SEARCH\n(?P<search>.*?)^={7}\n(?P<replace>.*?)^>{7} REPLACE$",
    re.MULTILINE | re.DOTALL,
)


class Similarity(Model):
    """Likeness to the gold patch in [0, 1], or ``WRONG_FORMAT``; None where there is nothing to compare with."""

    score: float | None
    problem: str = ""
    """Why the score is what it is, where it is no likeness."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A search/replace block of an answer: whole lines of a file, each with its line feed."""

    path: str
    search: str
    replace: str


class WrongFormatError(ValueError):
    """An answer does not have the form that was asked for; the message says why."""


def answer_reward(answer: str, before: Mapping[str, str], after: Mapping[str, str]) -> Similarity:
    """Return the reward of an answer: a thought in ``<think>``, and search/replace blocks in ``<solution>``.

    A block is a line ``### path``, then ``<<<<<<< SEARCH``, lines of the file, ``=======``, the lines that take their
    place, ``>>>>>>> REPLACE``. An empty search makes a new file.

    Args:
        answer: what the model wrote.
        before: the files of the base tree that the answer or the reference may change, by path.
        after: the files that the reference changes, as it leaves them.
    """
    wanted = _diffs(before, after)
    if not wanted:
        return Similarity(score=None, problem="the reference changes nothing")
    try:
        found = _diffs(before, apply_edits(read_edits(answer), before))
    except WrongFormatError as error:
        return Similarity(score=WRONG_FORMAT, problem=str(error))
    return _mean_ratio(found, wanted)


def patch_similarity(gold: str, candidate: str) -> Similarity:
    """Return the reward of a unified diff; 0 for one that is empty or cannot be read.

    Args:
        gold: unified diff of the reference; one that cannot be read, or that changes no text, gives no score.
        candidate: unified diff that is scored.
    """
    try:
        wanted = _diffs_by_path(read_changes(gold))
    except MalformedPatchError as error:
        return Similarity(score=None, problem=f"the gold patch cannot be read: {error}")
    if not wanted:
        return Similarity(score=None, problem="the gold patch changes no text")
    try:
        found = _diffs_by_path(read_changes(candidate))
    except MalformedPatchError as error:
        return Similarity(score=0.0, problem=f"the patch cannot be read: {error}")
    return _mean_ratio(found, wanted)


def read_edits(answer: str) -> tuple[Edit, ...]:
    """Read the search/replace blocks of an answer; raises WrongFormatError for what is not as it must be."""
    thought, solution = (_tagged(answer, tag) for tag in TAGS)
    if not thought.strip():
        raise WrongFormatError("the thought is empty")
    path, edits = "", []
    for match in _PATH_OR_BLOCK.finditer(solution.replace("\r\n", "\n")):
        if match["path"]:
            path = match["path"].strip()
            continue
        if not path:
            raise WrongFormatError("a block names no file")
        if match["search"] == match["replace"]:
            raise WrongFormatError(f"{path}: a block changes nothing")
        edits.append(Edit(path, match["search"], match["replace"]))
    if not edits:
        raise WrongFormatError("there is no search/replace block")
    return tuple(edits)


def apply_edits(edits: tuple[Edit, ...], before: Mapping[str, str]) -> dict[str, str]:
    """Return the files that blocks change, as they leave them; whole lines are found, the first time they stand there.

    Raises:
        WrongFormatError: a file does not hold what is searched for.
    """
    after: dict[str, str] = {}
    for edit in edits:
        text = after.get(edit.path, before.get(edit.path, ""))
        padded = "\n" + text + ("" if text.endswith("\n") or not text else "\n")
        if (not edit.search and text) or "\n" + edit.search not in padded:
            raise WrongFormatError(f"{edit.path}: the searched lines are not in the file")
        after[edit.path] = padded.replace("\n" + edit.search, "\n" + edit.replace, 1)[1:]
    return after


def _tagged(answer: str, tag: str) -> str:
    if answer.count(f"<{tag}>") != 1 or answer.count(f"</{tag}>") != 1:
        raise WrongFormatError(f"<{tag}> and </{tag}> must stand there once each")
    inside = answer.partition(f"<{tag}>")[2]
    if f"</{tag}>" not in inside:
        raise WrongFormatError(f"</{tag}> comes before <{tag}>")
    return inside.partition(f"</{tag}>")[0]


def _diffs(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    """Return the unified diff of each file that changes, without the lines that name it."""
    found = {}
    for path, text in after.items():
        lines = unified_diff(_lines(before.get(path, "")), _lines(text), n=3, lineterm="")
        found[path] = "\n".join(list(lines)[2:])
    return {path: diff for path, diff in found.items() if diff}


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []  # str.splitlines would cut at form feeds too


def _diffs_by_path(changes: tuple[FileChange, ...]) -> dict[str, str]:
    """Return the diff of each file whose text or name changes, without the lines that name it."""
    found = {change.path: "\n".join((*_renaming(change), *map(_written, change.hunks))) for change in changes}
    return {path: diff for path, diff in found.items() if diff}


def _renaming(change: FileChange) -> tuple[str, ...]:
    renamed = change.old and change.new and change.old != change.new
    return (f"rename to {change.new}",) if renamed else ()


def _written(hunk: Hunk) -> str:
    """Return a hunk as a diff shows it, without the function that git names behind its place."""
    return "\n".join([f"@@ {hunk.place} @@", *(f"{kind}{text}" for kind, text in hunk.lines)])


def _mean_ratio(found: Mapping[str, str], wanted: Mapping[str, str]) -> Similarity:
    """Return the mean likeness over the files that either side changes; a file that only one changes counts 0."""
    ratios = []
    for path in sorted({*found, *wanted}):
        one, other = found.get(path, ""), wanted.get(path, "")
        if len(one) * len(other) > TOO_LONG:
            return Similarity(score=None, problem=f"{path}: the diffs are too long to compare by character")
        ratios.append(SequenceMatcher(None, one, other, autojunk=False).ratio() if one and other else 0.0)
    return Similarity(score=sum(ratios) / len(ratios), problem="" if found else "the patch changes no text")
