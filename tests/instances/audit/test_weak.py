from assay.harness.domain import CounterForm, CounterSet, CounterTest, NoCounter, Outcome
from assay.instances.audit.finding import AuditKind, Severity
from assay.instances.audit.mutants import MutatedPatch
from assay.instances.audit.weak import Judged, find_by_controls, find_by_counters, find_by_mutants

R, U, N, INFRA = Outcome.RESOLVED, Outcome.UNRESOLVED, Outcome.NOT_RUN, Outcome.INFRA_ERROR


def judged(*outcomes: Outcome) -> list[Judged]:
    return [
        Judged(MutatedPatch("off by one", "a.py", f"x = {n}", "x = 9", ""), each) for n, each in enumerate(outcomes)
    ]


def test_instance_resolved_without_a_patch_is_a_fault() -> None:
    (found,) = find_by_controls("a", (R, R, R), (U, R, U))
    assert (found.kind, found.severity) == (AuditKind.WEAK_TESTS, Severity.FAULT)
    assert found.summary == "no patch at all is resolved in 1 of 3 runs"
    assert not list(find_by_controls("a", (R, R), (U, U)))


def test_gold_patch_that_is_not_resolved_is_a_fault() -> None:
    (found,) = find_by_controls("a", (R, U, INFRA), (U, U, U))
    assert (found.kind, found.summary) == (AuditKind.GOLD_FAILS, "the gold patch is unresolved in 1 of 2 runs")
    assert not list(find_by_controls("a", (INFRA, R), (U, U)))


def test_surviving_mutants_are_a_doubt_and_many_a_fault() -> None:
    (one,) = find_by_mutants("a", judged(R, U, U, U))
    assert (one.severity, one.share, one.evidence) == (Severity.DOUBT, 0.25, ("off by one in a.py: x = 0 -> x = 9",))
    (half,) = find_by_mutants("a", judged(R, U, R, U))
    assert (half.severity, half.share) == (Severity.FAULT, 0.5)
    (few,) = find_by_mutants("a", judged(R, R, R))
    assert few.severity is Severity.DOUBT
    assert not list(find_by_mutants("a", judged(U, U)))


def test_unjudged_mutants_do_not_count() -> None:
    (found,) = find_by_mutants("a", judged(R, N, INFRA, U))
    assert (found.share, found.summary) == (0.5, "1 of 2 mutants of the gold patch are resolved")
    assert not list(find_by_mutants("a", judged(N, INFRA)))


def test_label_that_passes_whatever_it_expects_is_a_doubt() -> None:
    kept = CounterTest(label="one", form=CounterForm.NEAR, edits={})
    missing = {"two": NoCounter.VACUOUS, "three": NoCounter.NO_ASSERTION}
    made = CounterSet(instance_id="a", environment="e", files={}, tests=(kept,), missing=missing)
    (found,) = find_by_counters(made)
    assert (found.kind, found.severity, found.evidence) == (AuditKind.VACUOUS_LABELS, Severity.DOUBT, ("two",))
    assert found.summary == "1 of 3 tests to be fixed pass with the gold patch whatever they expect"
    assert not list(find_by_counters(made.model_copy(update={"missing": {}})))
    (compiles,) = find_by_counters(made.model_copy(update={"missing": {}, "compile_only": ("one",)}))
    assert compiles.summary == "1 of 1 tests to be fixed pass where the gold patch's functions have no bodies"
