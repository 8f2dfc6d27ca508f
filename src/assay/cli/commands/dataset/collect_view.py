"""``assay dataset collect``: the funnel of a collection, as a person sees it."""

from collections.abc import Sequence

from assay.cli import console
from assay.instances.collect.funnel import FunnelPhase


def print_funnel(phases: Sequence[FunnelPhase]) -> None:
    """Print a row for each phase: candidates, kept, and the rules by which the others fell out."""
    rows = [
        (
            each.phase,
            str(each.taken),
            str(each.kept),
            ", ".join(f"{number} {rule}" for rule, number in each.dropped.items()),
        )
        for each in phases
    ]
    console.print_rows(("phase", "candidates", "kept", "fell out"), rows)
