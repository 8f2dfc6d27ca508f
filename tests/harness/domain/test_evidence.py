import pytest

from assay.harness.domain import Outcome, Rule, Verdict


@pytest.mark.parametrize("outcome", Outcome)
def test_only_one_outcome_is_resolved(outcome: Outcome) -> None:
    verdict = Verdict(instance_id="a", outcome=outcome, rule=Rule.SWE_BENCH)
    assert verdict.resolved == (outcome is Outcome.RESOLVED)


def test_verdict_read_from_its_file_is_the_same() -> None:
    verdict = Verdict(instance_id="a", outcome=Outcome.UNRESOLVED, unfixed=("t",), flags=("read_from_log",))
    assert Verdict.model_validate_json(verdict.model_dump_json()) == verdict
