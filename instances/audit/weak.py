"""Tests that let a wrong patch through: no patch at all, or a mutant of the gold patch. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.harness.domain import INFRASTRUCTURE, Outcome
from assay.instances.audit.finding import AuditFinding, AuditKind, Severity
from assay.instances.audit.mutants import MutatedPatch

ENOUGH = 4
"""Mutants that must have been judged before a share of them is called a fault."""
HALF = 0.5
"""Share of surviving mutants from which on tests are called weak without a person's look."""

TOLD = frozenset({Outcome.RESOLVED, Outcome.UNRESOLVED, Outcome.TIMED_OUT})
"""Outcomes in which the tests have judged a mutant; one that does not even build tells nothing about them."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A mutant of an instance's gold patch and what its tests said."""

    mutant: MutatedPatch
    outcome: Outcome


def by_controls(instance_id: str, gold: Sequence[Outcome], null: Sequence[Outcome]) -> Iterator[AuditFinding]:
    """Find instances that no patch resolves, or that the gold patch does not, in any of several runs.

    Runs that an infrastructure error ended say nothing.
    """
    if Outcome.RESOLVED in null:
        count = list(null).count(Outcome.RESOLVED)
        yield AuditFinding(
            instance_id=instance_id,
            kind=AuditKind.WEAK_TESTS,
            severity=Severity.FAULT,
            summary=f"no patch at all is resolved in {count} of {len(null)} runs",
            evidence=tuple(map(str, null)),
        )
    told = [outcome for outcome in gold if outcome not in INFRASTRUCTURE]
    wrong = [outcome for outcome in told if outcome is not Outcome.RESOLVED]
    if wrong:
        yield AuditFinding(
            instance_id=instance_id,
            kind=AuditKind.GOLD_FAILS,
            severity=Severity.FAULT,
            summary=f"the gold patch is {wrong[0]} in {len(wrong)} of {len(told)} runs",
            evidence=tuple(map(str, told)),
        )


def by_mutants(instance_id: str, judged: Sequence[Judged]) -> Iterator[AuditFinding]:
    """Find mutants that resolve the instance. One may mean the same as the gold patch; many are a fault."""
    told = [each for each in judged if each.outcome in TOLD]
    alive = [each for each in told if each.outcome is Outcome.RESOLVED]
    if not alive:
        return
    share = len(alive) / len(told)
    yield AuditFinding(
        instance_id=instance_id,
        kind=AuditKind.WEAK_TESTS,
        severity=Severity.FAULT if share >= HALF and len(told) >= ENOUGH else Severity.DOUBT,
        summary=f"{len(alive)} of {len(told)} mutants of the gold patch are resolved",
        share=share,
        evidence=tuple(each.mutant.description for each in alive),
    )
