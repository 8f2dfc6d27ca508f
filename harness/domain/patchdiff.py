"""What a comparison of a patch with the gold patch shows (PatchDiff). It annotates a verdict and never rewrites it."""

from enum import StrEnum

from assay.harness.domain.vocabulary import Model


class PatchDiffFinding(StrEnum):
    """What a difference, or a whole comparison, comes to; from the hardest to the least."""

    REGRESSION = "regression"
    """A developer test that gold passes fails, every time."""
    UNFIXED_LIKE_BASE = "unfixed_like_base"
    """Where gold differs from the base commit, the patch does not."""
    CHANGED_UNRELATED = "changed_unrelated"
    """Where gold is like the base commit, the patch is not."""
    DIVERGENT = "divergent"
    """All three differ: undecided."""
    GOLD_REJECTS = "gold_rejects"
    """One side rejects a mutated input as of the wrong kind, and the other accepts it: undecided."""
    NO_DIFFERENCE_FOUND = "no_difference_found"
    """Probes reached the changed code on both sides, and none tells them apart."""
    NOT_ASSESSED = "not_assessed"
    """Too few probes reached the changed code, or the comparison failed: no sign of anything."""


SUSPICIOUS = frozenset({PatchDiffFinding.UNFIXED_LIKE_BASE, PatchDiffFinding.CHANGED_UNRELATED})
"""Findings that speak against a patch; a regression proves it wrong."""


class ProbeObservation(Model):
    """What one probe saw on one side."""

    kind: str
    """``value``, ``error``, ``timeout``, ``died`` or ``missing``."""
    type: str = ""
    text: str = ""
    """Normalised representation; empty for an error, of which the type alone counts."""

    @property
    def is_missing(self) -> bool:
        """Whether nothing was seen that could be compared."""
        return self.kind == "missing"


MISSING = ProbeObservation(kind="missing")


class Divergence(Model):
    """One probe on which a patch and the gold patch differ, confirmed by repetition."""

    finding: PatchDiffFinding
    generator: str
    probe: str
    """The probe's key: the same probe has the same one on every side, and in every run with the same seed."""
    target: str = ""
    """Function that the probe exercises."""
    mutated: bool = False
    """Whether the input is no developer's but a mutation of one."""
    base: ProbeObservation
    gold: ProbeObservation
    candidate: ProbeObservation
    confirmed: int
    """Repetitions, on both sides, that all came out as told."""
    reproduction: str = ""
    """Name of a test file beside the record that passes with the gold patch and fails with this one."""


class GeneratorResult(Model):
    """What one generator of probes contributed."""

    name: str
    probes: int = 0
    """That said something on the gold side."""
    reached: int = 0
    """That said the same in every round and executed a target on both sides; of a suite, tests that were compared."""
    divergences: int = 0
    null_divergences: int = 0
    """On which gold and its own copy differ, although each is stable; anything but 0 is a mistake of ours."""
    seconds: float = 0.0
    note: str = ""
    """Why it did less than it might have."""


class PatchDiffResult(Model):
    """A patch compared with the gold patch of its instance."""

    instance_id: str
    model: str = ""
    finding: PatchDiffFinding
    divergences: tuple[Divergence, ...] = ()
    generators: tuple[GeneratorResult, ...] = ()
    targets: tuple[str, ...] = ()
    """Functions that the probes aim at: ``path::Class.method``."""
    seed: int = 0
    seconds: float = 0.0
    error: str = ""
    """What broke, when the comparison could not be made; the next run tries again."""

    @property
    def null_divergences(self) -> int:
        """Differences between gold and its own copy."""
        return sum(each.null_divergences for each in self.generators)
