"""The definition of "resolved": from saved evidence to a verdict. Pure, so re-grading is this same function.

One function per benchmark rule; everything that is decided without looking at single tests comes first.
"""

from collections.abc import Callable, Mapping

from assay.harness.domain import (
    ApplyStatus,
    Channel,
    Evidence,
    FailedPart,
    Instance,
    Outcome,
    Rule,
    Status,
    Verdict,
)
from assay.harness.reports import lookup, names_a_test

PASSING = frozenset({Status.PASSED, Status.XFAIL})
NOT_RUN = frozenset({Status.SKIPPED, Status.XFAIL})
FAILING = frozenset({Status.FAILED, Status.ERROR})
KILLED = 137
"""128 + SIGKILL: how a killed main process ends."""

Tests = Mapping[str, Status]


def grade(instance: Instance, evidence: Evidence) -> Verdict:
    """Grade one evaluation.

    Returns:
        The verdict: an outcome, the expected tests that speak against it, a reason in words and the evidence's flags.
    """
    unfixed: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    early = _without_tests(evidence)
    if early is not None:
        outcome, reason = early
    else:
        unfixed, broken = RULES[instance.rule](_with_real_labels(instance), evidence.report.tests)
        outcome, reason = _by_expectations(instance, unfixed, broken)
        if outcome is Outcome.RESOLVED:
            outcome, reason = _in_doubt(evidence) or (outcome, reason)
    return Verdict(
        instance_id=instance.id,
        outcome=outcome,
        rule=instance.rule,
        unfixed=unfixed,
        broken=broken,
        reason=_with_quarantine(instance, reason),
        flags=(*evidence.flags, *_warnings(instance, evidence)),
    )


def swe_bench(instance: Instance, tests: Tests) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """SWE-bench's pass_and_fail rule: returns (unfixed, broken).

    A fail-to-pass test must pass (an expected failure counts, a skip does not); a pass-to-pass test may also be
    skipped. A missing test has failed.

    Of the expected failures of fail-to-pass tests only those count that the test patch can have declared: code under
    test can call ``pytest.xfail`` itself.
    """
    fixed = PASSING if _declares_expected_failures(instance) else {Status.PASSED}
    unfixed = tuple(t for t in instance.fail_to_pass if lookup(t, tests) not in fixed)
    broken = tuple(t for t in instance.pass_to_pass if lookup(t, tests) not in PASSING | {Status.SKIPPED})
    return unfixed, broken


def _declares_expected_failures(instance: Instance) -> bool:
    added = instance.test_patch.lower()
    return "xfail" in added or "expectedfailure" in added


def swe_bench_fail_only(instance: Instance, tests: Tests) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """SWE-bench's fail_only rule, for logs that name failures only: what is not reported as failed has passed."""
    unfixed = tuple(t for t in instance.fail_to_pass if lookup(t, tests) in FAILING)
    broken = tuple(t for t in instance.pass_to_pass if lookup(t, tests) in FAILING)
    return unfixed, broken


RULES: dict[Rule, Callable[[Instance, Tests], tuple[tuple[str, ...], tuple[str, ...]]]] = {
    Rule.SWE_BENCH: swe_bench,
    Rule.SWE_BENCH_FAIL_ONLY: swe_bench_fail_only,
}


def _without_tests(evidence: Evidence) -> tuple[Outcome, str] | None:
    """Decide what needs no test result: who failed, in order of what the patch cannot write."""
    checks = (_by_failed_part, _by_apply, _by_limits, _by_consistency)
    return next((answer for answer in (check(evidence) for check in checks) if answer), None)


def _by_failed_part(evidence: Evidence) -> tuple[Outcome, str] | None:
    if evidence.failed_part is FailedPart.ENVIRONMENT:
        return Outcome.ENV_ERROR, evidence.error
    if evidence.failed_part is FailedPart.INFRASTRUCTURE:
        return Outcome.INFRA_ERROR, evidence.error
    return None


def _by_apply(evidence: Evidence) -> tuple[Outcome, str] | None:
    match evidence.apply.status:
        case ApplyStatus.REJECTED:
            return Outcome.PATCH_REJECTED, evidence.apply.detail
        case ApplyStatus.CONFLICT:
            return Outcome.PATCH_CONFLICT, evidence.apply.detail
        case ApplyStatus.EMPTY if evidence.exit_code is None and not evidence.report.tests:
            return Outcome.EMPTY_PATCH, "the patch is empty"
    return None


def _by_limits(evidence: Evidence) -> tuple[Outcome, str] | None:
    if evidence.timed_out:
        return Outcome.TIMED_OUT, "the tests did not end within the time limit"
    if evidence.disk_exceeded:
        return Outcome.OUTPUT_LIMIT, "the tests wrote more to the disk than the limit"
    if evidence.output_truncated:
        return Outcome.OUTPUT_LIMIT, "the tests wrote more output than the limit"
    if evidence.exit_code == KILLED and evidence.oom_killed:
        return Outcome.OUT_OF_MEMORY, "the test command was killed for want of memory"
    if evidence.exit_code == KILLED:
        return Outcome.TAMPERED, "the test command was killed from inside: neither memory nor the deadline ended it"
    return None


def _by_consistency(evidence: Evidence) -> tuple[Outcome, str] | None:
    """The exit status and the results must tell the same story; an unknown status (a foreign log) is not judged."""
    report = evidence.report
    failing = any(status in FAILING for status in report.tests.values())
    if not report.tests:
        return Outcome.NOT_RUN, f"no test result was found (exit status {evidence.exit_code})"
    if evidence.exit_code == 0 and failing and report.channel is Channel.REPORT:
        return Outcome.TAMPERED, "exit status 0 although tests failed"
    return None


def _in_doubt(evidence: Evidence) -> tuple[Outcome, str] | None:
    """Look once more at what would be resolved: the tripwires and the exit status must bear it out."""
    tests, wrong = evidence.report.tests, []
    for name, expected in evidence.canaries.items():
        found = tests.get(name, Status.MISSING)
        if found is not expected:
            wrong.append(f"{found} instead of {expected}")
    if wrong:
        return Outcome.TAMPERED, f"the tripwire tests do not behave: {', '.join(wrong)}"
    if evidence.exit_code not in (0, 1, None):
        return Outcome.NOT_RUN, f"exit status {evidence.exit_code}: the test runner did not finish its work"
    if evidence.exit_code and not any(status in FAILING for status in tests.values()):
        return Outcome.NOT_RUN, f"exit status {evidence.exit_code} although no test failed"
    return None


def _by_expectations(instance: Instance, unfixed: tuple[str, ...], broken: tuple[str, ...]) -> tuple[Outcome, str]:
    if not instance.fail_to_pass:
        return Outcome.UNRESOLVED, "the instance names no fail-to-pass test, so nothing can show a fix"
    if not unfixed and not broken:
        return Outcome.RESOLVED, "all expected tests pass"
    reason = (
        f"{len(unfixed)} of {len(instance.fail_to_pass)} unfixed, {len(broken)} of {len(instance.pass_to_pass)} broken"
    )
    return Outcome.UNRESOLVED, reason


def _with_quarantine(instance: Instance, reason: str) -> str:
    """Say how many tests the verdict does not rest on, since they do not come out the same every time."""
    if not instance.quarantined:
        return reason
    return f"{reason}; {len(instance.quarantined)} quarantined tests left out"


def _with_real_labels(instance: Instance) -> Instance:
    """Leave out labels that name no test at all: progress marks that an old parser took for tests."""
    if _all_name_a_test(instance):
        return instance
    fixed, kept = (tuple(filter(names_a_test, names)) for names in (instance.fail_to_pass, instance.pass_to_pass))
    return instance.model_copy(update={"fail_to_pass": fixed, "pass_to_pass": kept})


def _all_name_a_test(instance: Instance) -> bool:
    return all(map(names_a_test, (*instance.fail_to_pass, *instance.pass_to_pass)))


def _warnings(instance: Instance, evidence: Evidence) -> tuple[str, ...]:
    warnings = []
    if evidence.oom_killed and evidence.exit_code != KILLED:
        warnings.append("child_out_of_memory")
    if evidence.processes_limited:
        warnings.append("process_limit_hit")
    if evidence.report.channel is Channel.LOG:
        warnings.append("read_from_log")
    if any(lookup(test, evidence.report.tests) in NOT_RUN for test in instance.pass_to_pass):
        warnings.append("pass_to_pass_tests_skipped")
    if not _all_name_a_test(instance):
        warnings.append("labels_without_a_test_left_out")
    if instance.quarantined:
        warnings.append("quarantined_tests_left_out")
    if evidence.report.disagreements:
        warnings.append("report_and_log_disagree")
    return tuple(warnings)
