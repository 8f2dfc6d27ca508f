"""Weak tests: a wrong patch passes them, or nothing that they expect can be moved. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.harness.domain import INFRASTRUCTURE, CounterSet, NoCounter, Outcome
from assay.instances.audit.finding import AuditFinding, AuditKind, Severity
from assay.instances.audit.mutants import MutatedPatch

ENOUGH = 4  # least number of judged mutants for a fault
HALF = 0.5  # share of resolved mutants from which on it is a fault

JUDGED = frozenset({Outcome.RESOLVED, Outcome.UNRESOLVED, Outcome.TIMED_OUT})
"""Outcomes of mutants that the tests judged; a mutant that does not build says nothing about the tests."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A mutant of an instance's gold patch and the outcome of its evaluation."""

    mutant: MutatedPatch
    outcome: Outcome


def find_by_controls(instance_id: str, gold: Sequence[Outcome], null: Sequence[Outcome]) -> Iterator[AuditFinding]:
    """Find instances that are resolved without a patch, or not with the gold patch, in any of several runs.

    Runs that ended in an infrastructure failure do not count.
    """
    if Outcome.RESOLVED in null:
        summary = f"no patch at all is resolved in {list(null).count(Outcome.RESOLVED)} of {len(null)} runs"
        yield _make_fault(instance_id, AuditKind.WEAK_TESTS, summary, null)
    counted = [outcome for outcome in gold if outcome not in INFRASTRUCTURE]
    wrong = [outcome for outcome in counted if outcome is not Outcome.RESOLVED]
    if wrong:
        summary = f"the gold patch is {wrong[0]} in {len(wrong)} of {len(counted)} runs"
        yield _make_fault(instance_id, AuditKind.GOLD_FAILS, summary, counted)


def _make_fault(instance_id: str, kind: AuditKind, summary: str, runs: Sequence[Outcome]) -> AuditFinding:
    evidence = tuple(map(str, runs))
    return AuditFinding(instance_id=instance_id, kind=kind, severity=Severity.FAULT, summary=summary, evidence=evidence)


def find_by_mutants(instance_id: str, judged: Sequence[Judged]) -> Iterator[AuditFinding]:
    """Find mutants that resolve the instance. One may be equivalent to the gold patch; many are a fault."""
    counted = [each for each in judged if each.outcome in JUDGED]
    alive = [each for each in counted if each.outcome is Outcome.RESOLVED]
    if not alive:
        return
    share = len(alive) / len(counted)
    yield AuditFinding(
        instance_id=instance_id,
        kind=AuditKind.WEAK_TESTS,
        severity=Severity.FAULT if share >= HALF and len(counted) >= ENOUGH else Severity.DOUBT,
        summary=f"{len(alive)} of {len(counted)} mutants of the gold patch are resolved",
        share=share,
        evidence=tuple(each.mutant.description for each in alive),
    )


def find_by_counters(counters: CounterSet) -> Iterator[AuditFinding]:
    """Find labels that pass with the gold patch whatever they expect, and labels that only have to compile."""
    total = len(counters.tests) + len(counters.missing)
    vacuous = tuple(label for label, reason in counters.missing.items() if reason is NoCounter.VACUOUS)
    doubts = {
        "pass with the gold patch whatever they expect": vacuous,
        "pass where the gold patch's functions have no bodies": counters.compile_only,
    }
    for summary, labels in doubts.items():
        if labels:
            yield AuditFinding(
                instance_id=counters.instance_id,
                kind=AuditKind.VACUOUS_LABELS,
                severity=Severity.DOUBT,
                summary=f"{len(labels)} of {total} tests to be fixed {summary}",
                share=len(labels) / total,
                evidence=labels,
            )
