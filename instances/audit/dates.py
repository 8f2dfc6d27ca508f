"""Instances older or newer than a model's training cut-off. Pure."""

from collections.abc import Iterator
from datetime import date

from assay.harness.domain import UNKNOWN_TIME
from assay.instances.audit.finding import AuditFinding, AuditKind, Severity
from assay.instances.audit.subject import Subject


def find_by_cutoff(subject: Subject, cutoff: date) -> Iterator[AuditFinding]:
    """Report on which side of a training cut-off an instance is; the day itself counts as before."""
    created = subject.instance.created_at
    if created == UNKNOWN_TIME:
        kind, summary = AuditKind.ISSUE_WITHOUT_DATE, "its creation date is unknown"
    else:
        before, days = created.date() <= cutoff, abs((created.date() - cutoff).days)
        kind = AuditKind.ISSUE_BEFORE_CUTOFF if before else AuditKind.ISSUE_AFTER_CUTOFF
        summary = f"made {created.date()}, {days} days {'before' if before else 'after'} {cutoff}"
    yield subject.make_finding(kind, Severity.NOTE, summary, [created.isoformat()])
