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
        yield _finding(subject, AuditKind.ISSUE_WITHOUT_DATE, "its creation date is unknown")
        return
    before = created.date() <= cutoff
    days = abs((created.date() - cutoff).days)
    kind = AuditKind.ISSUE_BEFORE_CUTOFF if before else AuditKind.ISSUE_AFTER_CUTOFF
    side = f"{days} days {'before' if before else 'after'} {cutoff}"
    yield _finding(subject, kind, f"made {created.date()}, {side}")


def _finding(subject: Subject, kind: AuditKind, summary: str) -> AuditFinding:
    date_text = subject.instance.created_at.isoformat()
    return AuditFinding(
        instance_id=subject.instance.id, kind=kind, severity=Severity.NOTE, summary=summary, evidence=(date_text,)
    )
