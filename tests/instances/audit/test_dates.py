from collections.abc import Callable
from datetime import UTC, date, datetime

from assay.harness.domain import UNKNOWN_TIME, Instance
from assay.instances.audit.dates import find_by_cutoff
from assay.instances.audit.finding import AuditKind
from assay.instances.audit.subject import subject


def test_findings_before_on_and_after_the_cutoff(make_instance: Callable[..., Instance]) -> None:
    def kind(created: datetime) -> tuple[AuditKind, str]:
        (found,) = find_by_cutoff(subject(make_instance(created_at=created)), date(2023, 1, 2))
        return found.kind, found.summary

    assert kind(datetime(2022, 12, 31, tzinfo=UTC)) == (
        AuditKind.ISSUE_BEFORE_CUTOFF,
        "made 2022-12-31, 2 days before 2023-01-02",
    )
    assert kind(datetime(2023, 1, 2, 23, tzinfo=UTC))[0] is AuditKind.ISSUE_BEFORE_CUTOFF
    assert kind(datetime(2023, 1, 3, tzinfo=UTC)) == (
        AuditKind.ISSUE_AFTER_CUTOFF,
        "made 2023-01-03, 1 days after 2023-01-02",
    )
    assert kind(UNKNOWN_TIME)[0] is AuditKind.ISSUE_WITHOUT_DATE
