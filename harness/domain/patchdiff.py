"""Result of a comparison of a patch with the gold patch (PatchDiff). It annotates a verdict and never changes it."""

from enum import StrEnum

from assay.harness.domain.vocabulary import Model


class PatchDiffFinding(StrEnum):
    """Classification of a difference, or of a whole comparison, most severe first."""

    REGRESSION = "regression"
    """A developer test that gold passes fails, every time."""
    UNFIXED_LIKE_BASE = "unfixed_like_base"
    """Gold differs from the base commit, and the patch does not."""
    CHANGED_UNRELATED = "changed_unrelated"
    """Gold is like the base commit, and the patch is not."""
    DIVERGENT = "divergent"
    """All three differ: undecided."""
    GOLD_REJECTS = "gold_rejects"
    """One side rejects a mutated input as of the wrong type, and the other accepts it: undecided."""
    MORE_TOLERANT = "more_tolerant"
    """Base and gold raise the same error on a mutated input, and the patch gives a value: no flag."""
    NO_DIFFERENCE_FOUND = "no_difference_found"
    """Probes reached the changed code on both sides, and none shows a difference."""
    NOT_ASSESSED = "not_assessed"
    """Too few probes reached the changed code, or the comparison failed: no sign of anything."""


SUSPICIOUS = frozenset({PatchDiffFinding.UNFIXED_LIKE_BASE, PatchDiffFinding.CHANGED_UNRELATED})
"""Findings that count against a patch; a regression proves it wrong."""


class ProbeObservation(Model):
    """One probe's observation on one side."""

    kind: str
    """``value``, ``error``, ``timeout``, ``died`` or ``missing``."""
    type: str = ""
    text: str = ""
    """Normalised representation; empty for an error, whose type alone counts."""

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
    operator: str = ""
    """The operator of ``compose`` that made the call."""
    base: ProbeObservation
    gold: ProbeObservation
    candidate: ProbeObservation
    confirmed: int
    """Repetitions, on both sides, that all gave these observations."""
    reproduction: str = ""
    """Name of a test file beside the record that passes with the gold patch and fails with this one.

    In other languages than Python, its first lines describe both sides.
    """


class OperatorResult(Model):
    """The share of one operator in what ``compose`` did."""

    name: str
    reached: int = 0
    """Probes that executed a target on both sides."""
    divergences: int = 0


class GeneratorResult(Model):
    """The share of one generator in a comparison."""

    name: str
    probes: int = 0
    reached: int = 0
    """Stable probes that executed a target on both sides; of a suite, tests that were compared."""
    divergences: int = 0
    test_files: int = 0
    """Test files that were compared, of ``of_test_files``; of a suite."""
    of_test_files: int = 0
    null_divergences: int = 0
    """Probes on which gold and its own copy differ, although each is stable; anything but 0 is a bug of Assay."""
    seconds: float = 0.0
    note: str = ""
    """Reason for which it did less than it might have."""
    operators: tuple[OperatorResult, ...] = ()


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
    """The failure, if the comparison could not be made; the next run tries again."""

    @property
    def null_divergences(self) -> int:
        return sum(each.null_divergences for each in self.generators)
