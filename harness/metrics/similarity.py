"""Similarity of a patch to the gold patch, by character: the reward of SWE-RL (arXiv 2502.18449).

It says nothing about correctness: a different solution scores low, and a patch with one wrong word scores high.
``docs/metrics.md`` lists the guards.
"""

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher, unified_diff

from assay.harness.domain import Model
from assay.harness.edits.solution import ReadText
from assay.harness.metrics.placing import parse_patch, place
from assay.harness.patches.diff import FileChange, Hunk, MalformedPatchError

TOO_LONG = 400_000_000
"""Product of the lengths of two diffs, in characters, above which they are not compared: that takes about 3 s."""


class Similarity(Model):
    """Similarity to the gold patch in [0, 1]; None if there is nothing to compare with."""

    score: float | None
    problem: str = ""
    """Reason for no score, or for a score of 0 without comparison."""


def patch_similarity(gold: str, candidate: str) -> Similarity:
    """Compare two unified diffs; 0 if the candidate is empty or cannot be read, None if gold changes no text."""
    try:
        wanted = _diffs_by_path(parse_patch(gold))
    except MalformedPatchError as error:
        return Similarity(score=None, problem=f"the gold patch cannot be read: {error}")
    if not wanted:
        return Similarity(score=None, problem="the gold patch changes no text")
    try:
        found = _diffs_by_path(parse_patch(candidate))
    except MalformedPatchError as error:
        return Similarity(score=0.0, problem=f"the patch cannot be read: {error}")
    return _mean_ratio(found, wanted)


def text_similarity(gold: str, after: Mapping[str, str], read_text: ReadText) -> Similarity:
    """Compare the texts that an answer leaves with the gold patch's; None as ``patch_similarity``.

    Both sides become diffs in the same way, so that a change has one form. Raises what ``read_text`` raises.
    """
    try:
        left = [each for change in parse_patch(gold) for each in _list_texts(change, read_text)]
    except MalformedPatchError as error:
        return Similarity(score=None, problem=f"the gold patch cannot be applied: {error}")
    found, wanted = (_diff_texts(texts, read_text) for texts in (after, dict(left)))
    if not wanted:
        return Similarity(score=None, problem="the gold patch changes no text")
    return _mean_ratio(found, wanted)


def _list_texts(change: FileChange, read_text: ReadText) -> Iterator[tuple[str, str]]:
    """Yield the paths whose texts a change changes, each with its text afterwards; empty for a removed file."""
    before = read_text(change.old) if change.old else None
    if before is None and not change.hunks:
        return  # a binary file, or an empty one that is new
    if change.old and change.old != change.new:
        yield change.old, ""
    if change.new:
        yield change.new, place(change, before).after


def _diff_texts(texts: Mapping[str, str], read_text: ReadText) -> dict[str, str]:
    """Return the unified diff of each text that is not the base commit's, without the lines that name the file."""
    found = {}
    for path, text in texts.items():
        before, after = (each.removesuffix("\n").split("\n") if each else [] for each in (read_text(path) or "", text))
        found[path] = "\n".join([*unified_diff(before, after, lineterm="")][2:])
    return {path: diff for path, diff in found.items() if diff}


def _diffs_by_path(changes: tuple[FileChange, ...]) -> dict[str, str]:
    found = {
        change.base_path: "\n".join((*_render_renaming(change), *map(_render_hunk, change.hunks))) for change in changes
    }
    return {path: diff for path, diff in found.items() if diff}


def _render_renaming(change: FileChange) -> tuple[str, ...]:
    renamed = change.old and change.new and change.old != change.new
    return (f"rename to {change.new}",) if renamed else ()


def _render_hunk(hunk: Hunk) -> str:
    old, new = (sum(1 for _ in side) for side in (hunk.old(), hunk.new()))
    lines = (line.mark + line.text for line in hunk.lines if line.mark != "\\")
    return "\n".join([f"@@ -{hunk.start},{old} +{hunk.new_start},{new} @@", *lines])


def _mean_ratio(found: Mapping[str, str], wanted: Mapping[str, str]) -> Similarity:
    """Return the mean similarity over the files of both sides; a file that only one side changes counts 0."""
    ratios = []
    for path in sorted({*found, *wanted}):
        one, other = found.get(path, ""), wanted.get(path, "")
        if len(one) * len(other) > TOO_LONG:
            return Similarity(score=None, problem=f"{path}: the diffs are too long to compare by character")
        ratios.append(SequenceMatcher(None, one, other, autojunk=False).ratio() if one and other else 0.0)
    return Similarity(score=sum(ratios) / len(ratios), problem="" if found else "the patch changes no text")
