import pytest

from assay.harness.domain import MISSING, GeneratorResult, PatchDiffFinding, PatchDiffResult, ProbeObservation


@pytest.mark.parametrize(("kind", "missing"), [("missing", True), ("value", False), ("error", False), ("died", False)])
def test_only_a_missing_observation_cannot_be_compared(kind: str, missing: bool) -> None:
    assert ProbeObservation(kind=kind).is_missing == missing
    assert MISSING.is_missing


def test_null_divergences_are_those_of_all_generators() -> None:
    results = tuple(GeneratorResult(name=name, null_divergences=count) for name, count in (("a", 1), ("b", 2)))
    result = PatchDiffResult(instance_id="x", finding=PatchDiffFinding.NOT_ASSESSED, generators=results)
    assert result.null_divergences == 3
