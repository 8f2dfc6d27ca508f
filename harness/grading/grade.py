"""From evidence to a verdict. Pure: regrading calls the same function.

First comes everything that can be decided without single tests. Then the benchmark's rule (``rules``) judges the tests.
A patch that would be resolved is checked once more.
"""

from collections.abc import Callable

from assay.harness.domain import Channel, Evidence, Instance, Outcome, Rule, Status, Verdict
from assay.harness.grading import feature_bench, swe_fficiency, swt_bench
from assay.harness.grading.checks import KILLED, Ruling, in_doubt, without_tests
from assay.harness.grading.results import under_labels
from assay.harness.grading.rules import RULES
from assay.harness.reports import lookup, names_a_test

NOT_RUN = frozenset({Status.SKIPPED, Status.XFAIL})
STOPPED_EARLY = "fail_fast"
"""Flag of a verdict on a run that ended at its fail-to-pass tests."""


def grade(instance: Instance, evidence: Evidence) -> Verdict:
    """Grade one evaluation.

    Returns:
        The verdict: an outcome, the tests that count against the patch, a reason in words and flags.
    """
    found = JUDGES.get(instance.rule, _by_labels)(instance, evidence)
    return Verdict(
        instance_id=instance.id,
        outcome=found.outcome,
        rule=instance.rule,
        unfixed=found.unfixed,
        broken=found.broken,
        reason=_with_quarantine(instance, found.reason),
        environment=evidence.environment,
        flags=(*evidence.flags, *swe_fficiency.flags(evidence), *_warnings(instance, evidence)),
        measures=dict(found.measures),
    )


def _by_labels(instance: Instance, evidence: Evidence) -> Ruling:
    """Judge a run of the instance's tests by their labels and the benchmark's rule."""
    early = without_tests(instance, evidence)
    if early is not None:
        return Ruling(*early)
    graded = _with_real_labels(instance)
    unfixed, broken = RULES[instance.rule](graded, under_labels(graded, evidence.report.tests))
    if evidence.stopped_early:
        broken = ()
    judge = _by_fixes_alone if evidence.stopped_early else _by_expectations
    outcome, reason = judge(graded, unfixed, broken)
    if outcome is Outcome.RESOLVED:
        outcome, reason = in_doubt(instance, evidence) or (outcome, reason)
    return Ruling(outcome, reason, unfixed, broken)


def _by_files(instance: Instance, evidence: Evidence) -> Ruling:
    """Judge by labels that are files, and measure the share of tests that pass in those to be fixed."""
    found = _by_labels(instance, evidence)
    return found._replace(measures=feature_bench.measures(instance, evidence, found.outcome))


JUDGES: dict[Rule, Callable[[Instance, Evidence], Ruling]] = {
    Rule.SWT_BENCH: swt_bench.judge,
    Rule.SWE_FFICIENCY: swe_fficiency.judge,
    Rule.FEATURE_BENCH: _by_files,
}
"""Rules that look at more than one run, or measure; all others judge labels."""


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
