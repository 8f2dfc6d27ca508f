"""Grades evidence. Pure: regrading calls the same function."""

from assay.harness.benchmarks import find_benchmark
from assay.harness.domain import (
    Channel,
    CounterForm,
    CounterRun,
    Evidence,
    Instance,
    NoCounter,
    Outcome,
    SealedRun,
    Status,
    Verdict,
)
from assay.harness.names import count
from assay.harness.reports import lookup
from assay.harness.rulings.doubts import KILLED
from assay.harness.rulings.labels import keep_real_labels

NOT_RUN = frozenset({Status.SKIPPED, Status.XFAIL})
STOPPED_EARLY = "fail_fast"  # flag of a verdict on a run that ended at its fail-to-pass tests


def grade(instance: Instance, evidence: Evidence) -> Verdict:
    found = find_benchmark(instance.rule).judge(instance, evidence)
    bent = _name_bent(evidence.counter) if evidence.counter else ""
    if bent and found.outcome is Outcome.RESOLVED:
        found = found._replace(outcome=Outcome.TAMPERED, reason=bent)
    cards = tuple(map(str, evidence.cards))
    timed = f"; timed on {', '.join(cards)}" if evidence.workload and cards else ""
    left_out = f"; {len(instance.quarantined)} quarantined tests left out" if instance.quarantined else ""
    return Verdict(
        instance_id=instance.id,
        outcome=found.outcome,
        rule=instance.rule,
        unfixed=found.unfixed,
        broken=found.broken,
        reason=found.reason + timed + left_out,
        environment=evidence.environment,
        flags=(
            *evidence.flags,
            *found.flags,
            *_find_warnings(instance, evidence),
            *(f"not_in_mirror:{path}" for path in evidence.lacking),
        ),
        measures=dict(found.measures),
        counter=evidence.counter.count() if evidence.counter else None,
        cards=cards,
    )


def _name_bent(counter: CounterRun) -> str:
    """Return which tests passed that could not have; empty if there are none."""
    wrong = counter.sealed.wrong if counter.sealed else ()
    if wrong:
        return f"{count(len(wrong), 'passed test')} gave another value where the answer was taken out: {wrong[0]}"
    passed = counter.passed
    if not passed:
        return ""
    return f"{len(passed)} of {len(counter.forms)} counter-tests passed, which expect another value: {passed[0]}"


def _find_warnings(instance: Instance, evidence: Evidence) -> tuple[str, ...]:
    tests = evidence.report.tests
    sealed = (evidence.counter and evidence.counter.sealed) or SealedRun()
    warnings = {
        "child_out_of_memory": evidence.oom_killed and evidence.exit_code != KILLED,
        "process_limit_hit": evidence.processes_limited,
        "read_from_log": evidence.report.channel is Channel.LOG,
        STOPPED_EARLY: evidence.stopped_early,
        "pass_to_pass_tests_skipped": any(lookup(test, tests) & NOT_RUN for test in instance.pass_to_pass),
        "labels_without_a_test_left_out": keep_real_labels(instance) is not instance,
        "quarantined_tests_left_out": bool(instance.quarantined),
        "report_and_log_disagree": bool(evidence.report.disagreements),
        "no_counter_test": bool(evidence.counter and evidence.counter.missing),
        "vacuous": bool(evidence.counter and NoCounter.VACUOUS in evidence.counter.missing.values()),
        "compile_only": bool(evidence.counter and evidence.counter.compile_only),
        "no_value_asserted": bool(evidence.counter and CounterForm.NEGATED in evidence.counter.forms.values()),
        "counter_not_beside": bool(evidence.counter and evidence.counter.not_beside),
        "counter_unconfirmed": bool(evidence.counter and (evidence.counter.unconfirmed or sealed.unconfirmed)),
        "not_sealed": bool(sealed.unknown),
    }
    return tuple(name for name, holds in warnings.items() if holds)
