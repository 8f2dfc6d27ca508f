"""From evidence to a verdict. Pure: regrading calls the same function.

First comes everything that can be decided without single tests. Then the benchmark's rule (``rules``) judges the tests.
A patch that would be resolved is checked once more.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from assay.harness import languages
from assay.harness.domain import (
    FAILING,
    PASSING,
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
from assay.harness.grading.rules import RULES
from assay.harness.languages.base import unchanged
from assay.harness.reports import lookup, names_a_test
from assay.harness.reports.base import worst

NOT_RUN = frozenset({Status.SKIPPED, Status.XFAIL})
ROOT = "root"
STOPPED_EARLY = "fail_fast"
"""Flag of a verdict on a run that ended at its fail-to-pass tests."""
KILLED = 137
"""Exit code of a process killed by SIGKILL: 128 + 9."""
FINISHED = frozenset({0, 1})
"""Exit codes of a runner that ran to its end, in an unknown language."""


def grade(instance: Instance, evidence: Evidence) -> Verdict:
    """Grade one evaluation.

    Returns:
        The verdict: an outcome, the tests that count against the patch, a reason in words and flags.
    """
    unfixed: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    early = _without_tests(instance, evidence)
    if early is not None:
        outcome, reason = early
    else:
        graded = _with_real_labels(instance)
        unfixed, broken = RULES[instance.rule](graded, under_labels(graded, evidence.report.tests))
        if evidence.stopped_early:
            broken = ()
        judge = _by_fixes_alone if evidence.stopped_early else _by_expectations
        outcome, reason = judge(graded, unfixed, broken)
        if outcome is Outcome.RESOLVED:
            outcome, reason = _in_doubt(instance, evidence) or (outcome, reason)
    return Verdict(
        instance_id=instance.id,
        outcome=outcome,
        rule=instance.rule,
        unfixed=unfixed,
        broken=broken,
        reason=_with_quarantine(instance, reason),
        environment=evidence.environment,
        flags=(*evidence.flags, *_warnings(instance, evidence)),
    )


def steady(instance: Instance, tests: Mapping[str, Status]) -> Mapping[str, Status]:
    """Return results under normalised names, without parts that vary from run to run (``Language.normalise``)."""
    language = languages.find_or_none(instance.language)
    if language is None or language.normalise is unchanged:
        return tests
    return worst((language.normalise(name), status) for name, status in tests.items())


def under_labels(instance: Instance, tests: Mapping[str, Status]) -> Mapping[str, Status]:
    """Add the results of labels that equal a reported name after normalising both."""
    language, known = languages.find_or_none(instance.language), steady(instance, tests)
    if language is None or known is tests:
        return tests
    labels = (label for label in (*instance.fail_to_pass, *instance.pass_to_pass) if label not in tests)
    found = {label: known[language.normalise(label)] for label in labels if language.normalise(label) in known}
    return {**tests, **found}


def _without_tests(instance: Instance, evidence: Evidence) -> tuple[Outcome, str] | None:
    """Return outcome and reason if they need no test result; facts that a patch cannot write come first."""
    checks = (_by_failed_part, _by_apply, _by_limits, _by_strictness)
    answers = (check(evidence) for check in checks)
    return next((answer for answer in answers if answer), None) or _by_consistency(instance, evidence)


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
        return Outcome.OUT_OF_MEMORY, "the test command was killed because memory ran out"
    if evidence.exit_code == KILLED:
        return Outcome.TAMPERED, "the test command was killed from inside: neither memory nor the deadline ended it"
    return None


def _by_strictness(evidence: Evidence) -> tuple[Outcome, str] | None:
    if evidence.strict and evidence.user == ROOT:
        return Outcome.NOT_RUN, "the tests ran as root, which is not enough for a strict run"
    if evidence.strict and evidence.report.channel is Channel.LOG:
        return Outcome.NOT_RUN, "the results are in a log alone, which is not enough for a strict run"
    return None


def _by_consistency(instance: Instance, evidence: Evidence) -> tuple[Outcome, str] | None:
    """Compare exit status and results, which must agree; an unknown status (an external log) is not judged."""
    report = evidence.report
    silence_means_success = instance.rule is Rule.SWE_BENCH_FAIL_ONLY and report.suite_ran
    if not report.tests and not _any_tripwire_ran(evidence) and not silence_means_success:
        return Outcome.NOT_RUN, f"no test result was found (exit status {evidence.exit_code})"
    if evidence.exit_code == 0 and _any_failed(evidence) and report.channel is Channel.REPORT:
        return Outcome.TAMPERED, "exit status 0 although tests failed"
    return None


def doubt_about(instance: Instance, evidence: Evidence) -> str:
    """Return the reason for which none of a run's results can be trusted, whatever is expected; empty if there is none.

    A run without results is no such reason.
    """
    if evidence.exit_code is None or not evidence.report.tests:
        return ""
    report = evidence.report
    better = [name for name in report.disagreements if report.tests.get(name) in PASSING]
    found = _by_limits(evidence) or _by_consistency(instance, evidence) or _by_tripwires(evidence)
    if found is None and (better or report.unprinted):
        return "report and output disagree"
    return found[1] if found else ""


def _any_tripwire_ran(evidence: Evidence) -> bool:
    return any(tripwire.reported is not Status.MISSING for tripwire in evidence.tripwires.values())


def _any_failed(evidence: Evidence) -> bool:
    """Return whether a test failed, the project's own or a tripwire."""
    tripwires = (tripwire.reported for tripwire in evidence.tripwires.values())
    return any(status in FAILING for status in (*evidence.report.tests.values(), *tripwires))


def _in_doubt(instance: Instance, evidence: Evidence) -> tuple[Outcome, str] | None:
    """Check a resolved patch once more: tripwires, exit status and the signs of a complete run must confirm it."""
    checks = (_by_exit_status, _by_silence, _by_both_channels, _by_muted_output)
    answers = (check(instance, evidence) for check in checks)
    return _by_tripwires(evidence) or next((answer for answer in answers if answer), None)


def _by_tripwires(evidence: Evidence) -> tuple[Outcome, str] | None:
    wrong = Counter(
        f"{found} instead of {tripwire.expected} in the {channel}"
        for tripwire in evidence.tripwires.values()
        for channel, found in (("report", tripwire.reported), ("output", tripwire.printed))
        if found is not None and not _is_as_expected(found, tripwire.expected)
    )
    if wrong:
        counts = ", ".join(f"{count} {what}" for what, count in wrong.items())
        return Outcome.TAMPERED, f"of {len(evidence.tripwires)} tripwire tests: {counts}"
    return None


def _is_as_expected(found: Status, expected: Status) -> bool:
    """Compare a tripwire's status; runners disagree about which failures are errors."""
    return found in FAILING if expected in FAILING else found is expected


def _by_exit_status(instance: Instance, evidence: Evidence) -> tuple[Outcome, str] | None:
    """Judge the exit status of the test command; that of an external log may be unknown."""
    language = languages.find_or_none(instance.language)
    finished = language.FINISHED if language else FINISHED
    if evidence.exit_code is not None and evidence.exit_code not in finished:
        return Outcome.NOT_RUN, f"exit status {evidence.exit_code}: the test runner did not finish its work"
    if evidence.exit_code and not _any_failed(evidence):
        return Outcome.NOT_RUN, f"exit status {evidence.exit_code} although no test failed"
    return None


def _by_both_channels(instance: Instance, evidence: Evidence) -> tuple[Outcome, str] | None:
    """Compare report and output: a test cannot undo what its runner has printed, so a better result in the report is
    forged.
    """
    doubtful = _expected_among(evidence.report.disagreements, instance, evidence)
    if doubtful:
        return Outcome.TAMPERED, f"the report and the output disagree about {doubtful} expected tests"
    return None


def _by_muted_output(instance: Instance, evidence: Evidence) -> tuple[Outcome, str] | None:
    """Require that a runner which prints every test has printed the expected ones."""
    silent = _expected_among(evidence.report.unprinted, instance, evidence)
    if silent:
        return Outcome.TAMPERED, f"{silent} expected tests pass in the report and are nowhere in the output"
    return None


def _expected_among(names: Iterable[str], instance: Instance, evidence: Evidence) -> int:
    """Return how many expected tests with a passing result have one of these names."""
    tests = under_labels(instance, evidence.report.tests)
    doubtful = {name: tests[name] for name in names if tests.get(name) in PASSING}
    labels = (*instance.fail_to_pass, *instance.pass_to_pass)
    return sum(lookup(label, doubtful) != {Status.MISSING} for label in labels) if doubtful else 0


def _by_silence(instance: Instance, evidence: Evidence) -> tuple[Outcome, str] | None:
    """Under a rule where silence means success, require a sign that the suite was not cut off."""
    if instance.rule is not Rule.SWE_BENCH_FAIL_ONLY or evidence.report.suite_ran:
        return None
    if any(status in PASSING for status in evidence.report.tests.values()):
        return None
    return Outcome.NOT_RUN, "only failures are reported, and nothing shows that the suite ran to its end"


def _by_expectations(instance: Instance, unfixed: tuple[str, ...], broken: tuple[str, ...]) -> tuple[Outcome, str]:
    expects_a_map = instance.rule is Rule.R2E and instance.stages is not None and bool(instance.stages.fix)
    if not instance.fail_to_pass and not expects_a_map:
        return Outcome.UNRESOLVED, "the instance names no fail-to-pass test, so nothing can show a fix"
    if not unfixed and not broken:
        return Outcome.RESOLVED, "all expected tests pass"
    if expects_a_map:
        return Outcome.UNRESOLVED, f"{len(unfixed) + len(broken)} results are not those that are expected"
    more = sum(1 for name in broken if name not in set(instance.pass_to_pass))
    reason = f"{len(unfixed)} of {len(instance.fail_to_pass)} unfixed, "
    reason += f"{len(broken) - more} of {len(instance.pass_to_pass)} broken"
    return Outcome.UNRESOLVED, reason + (f", {more} others count against it" if more else "")


def _by_fixes_alone(instance: Instance, unfixed: tuple[str, ...], _broken: tuple[str, ...]) -> tuple[Outcome, str]:
    """Judge a run of fail-to-pass tests alone: it can show that a patch fails, and no more."""
    if not unfixed:
        return Outcome.NOT_RUN, "only the fail-to-pass tests were run"
    return Outcome.UNRESOLVED, f"{len(unfixed)} of {len(instance.fail_to_pass)} unfixed; the other tests were not run"


def _with_quarantine(instance: Instance, reason: str) -> str:
    """Append the number of quarantined tests to a reason."""
    if not instance.quarantined:
        return reason
    return f"{reason}; {len(instance.quarantined)} quarantined tests left out"


def _with_real_labels(instance: Instance) -> Instance:
    """Leave out labels that name no test: progress marks that an old parser took for tests."""
    if _all_name_a_test(instance):
        return instance
    fixed, kept = (tuple(filter(names_a_test, names)) for names in (instance.fail_to_pass, instance.pass_to_pass))
    return instance.model_copy(update={"fail_to_pass": fixed, "pass_to_pass": kept})


def _all_name_a_test(instance: Instance) -> bool:
    return all(map(names_a_test, (*instance.fail_to_pass, *instance.pass_to_pass)))


def _warnings(instance: Instance, evidence: Evidence) -> tuple[str, ...]:
    tests = evidence.report.tests
    warnings = {
        "child_out_of_memory": evidence.oom_killed and evidence.exit_code != KILLED,
        "process_limit_hit": evidence.processes_limited,
        "read_from_log": evidence.report.channel is Channel.LOG,
        STOPPED_EARLY: evidence.stopped_early,
        "pass_to_pass_tests_skipped": any(lookup(test, tests) & NOT_RUN for test in instance.pass_to_pass),
        "labels_without_a_test_left_out": not _all_name_a_test(instance),
        "quarantined_tests_left_out": bool(instance.quarantined),
        "report_and_log_disagree": bool(evidence.report.disagreements),
    }
    return tuple(name for name, holds in warnings.items() if holds)
