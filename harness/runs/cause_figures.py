"""Figures of a run's causes, kept apart from the verdicts."""

from collections.abc import Sequence
from statistics import fmean, median

from assay.harness.domain import Cause, Model


class CauseFigures(Model):
    found: int
    not_found: int
    """Searches that ended with an error."""
    finished: int
    """Causes in which every hunk is needed; the budget ended the other searches."""
    needed_share: float | None
    """Mean of the lines that are needed by the lines of the patch."""
    needed_shares: dict[str, float]
    median_hunk_evaluations: float | None
    flagged_ids: list[str]
    """Patches whose cause looks at frames, runners or test files."""


def cause_figures(causes: Sequence[Cause]) -> CauseFigures:
    found = sorted((each for each in causes if not each.error), key=lambda each: each.instance_id)
    shares = {each.instance_id: each.needed_share for each in found if each.needed_share is not None}
    return CauseFigures(
        found=len(found),
        not_found=len(causes) - len(found),
        finished=sum(each.hunks_are_needed for each in found),
        needed_share=round(fmean(shares.values()), 4) if shares else None,
        needed_shares=shares,
        median_hunk_evaluations=median(each.hunk_evaluations for each in found) if found else None,
        flagged_ids=[each.instance_id for each in found if each.flags],
    )
