import pytest

from assay.harness.domain import Evidence, Instance, Stages, Status
from assay.jobs.stages import join_stages
from judged import E, F, P, S, X, make_evidence
from toy import make_instance


@pytest.fixture
def instance() -> Instance:
    return make_instance()


def ran(**tests: Status) -> Evidence:
    return make_evidence(tests)


def test_each_stage_has_the_tests_that_it_ran(instance: Instance) -> None:
    runs = {"run": [ran(kept=P, gone=P)], "test": [ran(kept=P, fixed=F)], "fix": [ran(kept=P, fixed=P, new=P)]}
    assert join_stages(instance, ["kept", "fixed", "new"], runs) == Stages(
        run={"kept": P}, test={"kept": P, "fixed": F}, fix={"kept": P, "fixed": P, "new": P}
    )


def test_an_error_is_a_failure_and_an_expected_failure_a_skip(instance: Instance) -> None:
    runs = {"run": [ran(a=E, b=X)], "test": [ran(a=E, b=X), ran(a=F, b=S)], "fix": [ran(a=P, b=P)]}
    assert join_stages(instance, ["a", "b"], runs) == Stages(
        run={"a": F, "b": S}, test={"a": F, "b": S}, fix={"a": P, "b": P}
    )


@pytest.mark.parametrize("stage", ["run", "test", "fix"])
@pytest.mark.parametrize("other", [ran(kept=P, shaky=F), ran(kept=P)], ids=["fails", "is missing"])
def test_a_test_that_is_unsteady_in_one_stage_is_in_none(instance: Instance, stage: str, other: Evidence) -> None:
    once = ran(kept=P, shaky=P)
    runs = {each: [once, other if each == stage else once] for each in ("run", "test", "fix")}
    assert join_stages(instance, ["kept", "shaky"], runs) == Stages(run={"kept": P}, test={"kept": P}, fix={"kept": P})
