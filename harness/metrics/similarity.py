"""Similarity of a patch to the gold patch, by character: the reward of SWE-RL (arXiv 2502.18449).

It says nothing about correctness: a different solution scores low, and a patch with one wrong word scores high.
``docs/metrics.md`` lists the guards.
"""

from collections.abc import Mapping
from difflib import SequenceMatcher

from assay.harness.domain import Model
from assay.harness.metrics.placing import parse_patch
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
