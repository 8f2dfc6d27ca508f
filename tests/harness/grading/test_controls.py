import pytest

from assay.harness.domain import Evidence, Instance, Outcome, Status, Verdict
from assay.harness.grading.controls import Validation, unfit_reason, validation
from assay.harness.grading.stability import measure
from judged import E, F, P, X, make_evidence
from toy import FIXED, KEPT

GOOD_GOLD = {"fixed": P, "kept": P}
GOOD_NULL = {"fixed": F, "kept": P}


def evidence(*, exit_code: int, **tests: Status) -> Evidence:
    names = {"fixed": FIXED, "kept": KEPT}
    return make_evidence({names.get(name, name): status for name, status in tests.items()}, exit_code=exit_code)


def validated(instance: Instance, gold: list[Evidence | None], null: list[Evidence | None]) -> Validation:
    return validation(instance, gold, null, measure(instance, gold, null))


def test_instance_with_correct_labels_is_valid(instance: Instance) -> None:
    gold = evidence(exit_code=0, **GOOD_GOLD, new=P, odd=X)
    null = evidence(exit_code=1, **GOOD_NULL, odd=X)
    found = validated(instance, [gold, gold], [null, null])
    assert found.valid
    assert found.fail_to_pass == ("new", FIXED)
    assert found.pass_to_pass == (KEPT,)
    assert (found.label_differences, found.unstable) == ((), ())


def test_fail_to_pass_test_that_passes_without_the_fix_is_invalid(instance: Instance) -> None:
    both = evidence(exit_code=0, **GOOD_GOLD)
    found = validated(instance, [both], [both])
    assert (found.valid, found.valid_after_quarantine, found.null) == (False, False, (Outcome.RESOLVED,))
    assert found.label_differences == (f"labelled fail to pass, is passed to passed: {FIXED}",)


def test_gold_patch_that_breaks_a_test_is_invalid(instance: Instance) -> None:
    gold = evidence(exit_code=1, fixed=P, kept=E)
    null = evidence(exit_code=1, **GOOD_NULL)
    found = validated(instance, [gold], [null])
    assert not found.valid
    assert found.label_differences == (f"labelled pass to pass, is passed to error: {KEPT}",)


@pytest.mark.parametrize(
    ("gold", "null"),
    [
        ((), (Outcome.UNRESOLVED,)),
        ((Outcome.RESOLVED,), ()),
        ((Outcome.RESOLVED,), (Outcome.UNRESOLVED, Outcome.TIMED_OUT)),
        ((Outcome.RESOLVED, Outcome.TIMED_OUT), (Outcome.UNRESOLVED,)),
    ],
)
def test_controls_that_did_not_all_end_as_they_should_are_invalid(
    gold: tuple[Outcome, ...], null: tuple[Outcome, ...]
) -> None:
    found = Validation(instance_id="x", gold=gold, null=null)
    assert (found.valid, found.valid_after_quarantine) == (False, False)


def test_missing_evidence_is_invalid(instance: Instance) -> None:
    found = validated(instance, [None], [None])
    assert (found.valid, found.gold) == (False, (Outcome.INFRA_ERROR,))
    assert (found.fail_to_pass, found.pass_to_pass, found.quarantined) == ((), (), ())


def test_one_differing_run_of_three_is_invalid_and_quarantines_the_test(instance: Instance) -> None:
    good, bad = evidence(exit_code=0, **GOOD_GOLD), evidence(exit_code=1, fixed=P, kept=F)
    null = evidence(exit_code=1, **GOOD_NULL)
    found = validated(instance, [good, bad, good], [null] * 3)
    assert found.gold == (Outcome.RESOLVED, Outcome.UNRESOLVED, Outcome.RESOLVED)
    assert (found.valid, found.valid_after_quarantine) == (False, True)
    assert found.unstable == found.quarantined == (KEPT,)
    assert (found.fail_to_pass, found.pass_to_pass) == ((FIXED,), ())
    assert found.label_differences == (f"labelled pass to pass, is passed to passed or failed: {KEPT}",)


def test_instance_without_a_stable_fail_to_pass_test_is_invalid(instance: Instance) -> None:
    good, bad = evidence(exit_code=0, **GOOD_GOLD), evidence(exit_code=1, **GOOD_NULL)
    found = validated(instance, [good, bad], [bad, bad])
    assert found.quarantined == (FIXED,)
    assert not found.valid_after_quarantine


def test_labels_are_measured_only_if_every_run_had_results(instance: Instance) -> None:
    gold, null = evidence(exit_code=0, **GOOD_GOLD), evidence(exit_code=1, **GOOD_NULL)
    late = gold.model_copy(update={"timed_out": True})
    found = validated(instance, [gold, late], [null, null])
    assert (found.valid, found.fail_to_pass, found.quarantined) == (False, (), ())


def test_instance_is_unfit_if_its_controls_fail() -> None:
    def verdict(outcome: Outcome, reason: str = "") -> Verdict:
        return Verdict(instance_id="acme__calc-1", outcome=outcome, reason=reason)

    right, wrong = verdict(Outcome.RESOLVED), verdict(Outcome.UNRESOLVED, "1 of 1 unfixed")
    assert unfit_reason(right, wrong) == ""
    assert unfit_reason(wrong, wrong) == "its gold patch is unresolved: 1 of 1 unfixed"
    assert unfit_reason(right, right) == "no patch at all is resolved"
    assert "infra_error: broken" in unfit_reason(right, verdict(Outcome.INFRA_ERROR, "broken"))
    assert unfit_reason(right, verdict(Outcome.NOT_RUN)) == ""
