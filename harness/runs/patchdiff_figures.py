"""Figures of a run's comparisons with gold, kept apart from the verdicts."""

from collections import Counter
from collections.abc import Sequence

from assay.harness.domain import SUSPICIOUS, Model, PatchDiffFinding, PatchDiffResult
from assay.harness.statistics import Interval, wilson


class PatchDiffFigures(Model):
    """The resolved patches of a run, by finding. Rates are of all submitted patches."""

    submitted: int
    compared: int
    findings: dict[str, int]
    finding_of: dict[str, PatchDiffFinding]
    resolved_rate: float
    not_refuted: int
    """Resolved patches without a regression, those not assessed included: no developer test refutes them."""
    not_refuted_rate: Interval
    suspicious: int | None
    """None if no comparison could be made: that is no sign of anything."""
    suspicious_rate: float | None
    not_assessed: int
    not_assessed_rate: float
    null_divergences: int
    """Differences between gold and its own copy; anything but 0 is a bug in Assay."""


def patchdiff_figures(comparisons: Sequence[PatchDiffResult], submitted: int) -> PatchDiffFigures:
    """Count the findings about resolved patches; ``submitted`` counts all patches of the run."""
    counts = Counter(each.finding for each in comparisons)
    assessed = len(comparisons) - counts[PatchDiffFinding.NOT_ASSESSED]
    suspicious = sum(counts[finding] for finding in SUSPICIOUS) if assessed else None
    not_refuted = len(comparisons) - counts[PatchDiffFinding.REGRESSION]

    def rate(number: int) -> float:
        return round(number / submitted, 6) if submitted else 0.0

    return PatchDiffFigures(
        submitted=submitted,
        compared=len(comparisons),
        findings={str(finding): counts[finding] for finding in PatchDiffFinding if counts[finding]},
        finding_of={each.instance_id: each.finding for each in sorted(comparisons, key=lambda each: each.instance_id)},
        resolved_rate=rate(len(comparisons)),
        not_refuted=not_refuted,
        not_refuted_rate=wilson(not_refuted, submitted),
        suspicious=suspicious,
        suspicious_rate=None if suspicious is None else rate(suspicious),
        not_assessed=counts[PatchDiffFinding.NOT_ASSESSED],
        not_assessed_rate=rate(counts[PatchDiffFinding.NOT_ASSESSED]),
        null_divergences=sum(each.null_divergences for each in comparisons),
    )
