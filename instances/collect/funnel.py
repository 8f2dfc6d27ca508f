"""How many candidates each phase kept, and by which rules the others fell out. Pure."""

from collections import Counter
from collections.abc import Sequence

from pydantic import Field

from assay.harness.domain import Model
from assay.instances.collect.steps import CandidateStep, Phase


class FunnelPhase(Model):
    phase: Phase
    taken: int
    """Candidates that it looked at."""
    kept: int
    dropped: dict[str, int] = Field(default_factory=dict)
    """Number of rejected candidates by rule, most first."""

    @property
    def why(self) -> str:
        """The rules by which candidates fell out, each with its number, in words."""
        return ", ".join(f"{number} {rule}" for rule, number in self.dropped.items())


def funnel_phase(phase: Phase, steps: Sequence[CandidateStep]) -> FunnelPhase:
    dropped = Counter(step.rule for step in steps if not step.kept)
    ordered = sorted(dropped.items(), key=lambda each: (-each[1], each[0]))
    return FunnelPhase(phase=phase, taken=len(steps), kept=sum(step.kept for step in steps), dropped=dict(ordered))
