"""FeatureBench: whole files are labels, and the share of passing tests is measured."""

from collections.abc import Mapping
from typing import Any

import pytest

from assay.harness.domain import Evidence, FailedPart, Instance, Outcome, Rule, Status
from assay.harness.grading.grade import grade
from assay.harness.reports.ids import rename
from judged import E, F, P, S, X, make_evidence
from toy import make_instance

Tests = Mapping[str, Status]
NONE: Tests = {}
FIXED, KEPT = "tests/test_fixed.py", "tests/test_kept.py"


@pytest.fixture
def instance() -> Instance:
    labels = {"fail_to_pass": (FIXED,), "pass_to_pass": (KEPT,)}
    return make_instance(rule=Rule.FEATURE_BENCH, test_id="file_node", **labels)


def evidence(fixed: list[Status], kept: list[Status], other: Tests = NONE, **changes: Any) -> Evidence:
    """Make the evidence of a run of two files whose tests have these statuses."""
    full = {f"{FIXED}::test_{number}": status for number, status in enumerate(fixed)}
    full |= {f"{KEPT}::test_{number}": status for number, status in enumerate(kept)}
    return make_evidence({**rename(full, "file_node"), **other}, **changes)


@pytest.mark.parametrize(
    ("fixed", "kept", "outcome", "rate"),
    [
        ([P, P], [P], Outcome.RESOLVED, 1.0),
        ([P, S, X], [P, X, S], Outcome.RESOLVED, 1.0),
        ([P, F, E, S], [P], Outcome.UNRESOLVED, 0.3333),
        ([P], [P, F], Outcome.UNRESOLVED, 1.0),
        ([S, S], [P], Outcome.UNRESOLVED, 0.0),
        ([P], [S, X], Outcome.RESOLVED, 1.0),
        ([X], [P], Outcome.UNRESOLVED, 1.0),
        ([P], [], Outcome.UNRESOLVED, 1.0),
        ([], [P], Outcome.UNRESOLVED, 0.0),
    ],
)
def test_a_file_to_be_fixed_has_a_test_that_passes_and_none_of_any_file_fails(
    instance: Instance, fixed: list[Status], kept: list[Status], outcome: Outcome, rate: float
) -> None:
    verdict = grade(instance, evidence(fixed, kept))
    assert (verdict.outcome, verdict.measures) == (outcome, {"pass_rate": rate})


def test_a_file_that_is_skipped_as_a_whole_is_broken(instance: Instance) -> None:
    assert grade(instance, evidence([P], [], {KEPT: S})).broken == (KEPT,)


@pytest.mark.parametrize("doubt", ["unprinted", "disagreements"])
def test_a_test_in_doubt_puts_its_file_in_doubt(instance: Instance, doubt: str) -> None:
    for name, outcome in ((f"{FIXED}::test_1", Outcome.TAMPERED), ("tests/other.py::test_1", Outcome.RESOLVED)):
        found = evidence([P, P], [P], {"tests/other.py::test_1": P}, **{doubt: (name,)})
        assert grade(instance, found).outcome is outcome


def test_results_that_cannot_be_trusted_have_no_share(instance: Instance) -> None:
    verdict = grade(instance, evidence([P, F], [P], exit_code=0))
    assert (verdict.outcome, verdict.measures) == (Outcome.TAMPERED, {"pass_rate": 0.0})


def test_a_failure_of_the_infrastructure_has_no_share(instance: Instance) -> None:
    verdict = grade(instance, evidence([], [], failed_part=FailedPart.INFRASTRUCTURE, error="no disk"))
    assert (verdict.outcome, verdict.measures) == (Outcome.INFRA_ERROR, {})
