from assay.harness.domain import Apply, ApplyStatus, Channel, Evidence, Instance, Outcome, Status, TestReport
from assay.harness.validate import validation

FIXED, KEPT = "tests/test_calc.py::test_add", "tests/test_calc.py::test_same"


def evidence(*, exit_code: int, **tests: Status) -> Evidence:
    names = {"fixed": FIXED, "kept": KEPT}
    report = TestReport(channel=Channel.REPORT, tests={names.get(name, name): status for name, status in tests.items()})
    apply = Apply(status=ApplyStatus.APPLIED)
    return Evidence(instance_id="acme__calc-1", apply=apply, exit_code=exit_code, report=report)


def test_labels_that_hold_make_an_instance_valid(instance: Instance) -> None:
    gold = evidence(exit_code=0, fixed=Status.PASSED, kept=Status.PASSED, new=Status.PASSED, odd=Status.XFAIL)
    null = evidence(exit_code=1, fixed=Status.FAILED, kept=Status.PASSED, odd=Status.XFAIL)
    found = validation(instance, gold, null)
    assert found.valid
    assert found.fail_to_pass == ("new", FIXED)
    assert found.pass_to_pass == (KEPT,)
    assert found.label_differences == ()


def test_a_test_that_passes_without_the_fix_makes_it_invalid(instance: Instance) -> None:
    both = evidence(exit_code=0, fixed=Status.PASSED, kept=Status.PASSED)
    found = validation(instance, both, both)
    assert (found.valid, found.null) == (False, Outcome.RESOLVED)
    assert found.label_differences == (f"labelled fail to pass, is passed to passed: {FIXED}",)


def test_a_gold_patch_that_breaks_a_test_is_told(instance: Instance) -> None:
    gold = evidence(exit_code=1, fixed=Status.PASSED, kept=Status.ERROR)
    null = evidence(exit_code=1, fixed=Status.FAILED, kept=Status.PASSED)
    found = validation(instance, gold, null)
    assert not found.valid
    assert found.label_differences == (f"labelled pass to pass, is passed to error: {KEPT}",)


def test_missing_evidence_is_no_validation(instance: Instance) -> None:
    assert not validation(instance, None, None).valid
