from datetime import UTC, date, datetime

import pytest

from assay.harness.domain import UNKNOWN_TIME
from assay.instances.audit.dates import find_by_cutoff
from assay.instances.audit.finding import AuditKind
from assay.instances.audit.subject import subject
from toy import make_instance


@pytest.mark.parametrize(
    ("created", "kind", "summary"),
    [
        (datetime(2022, 12, 31), AuditKind.ISSUE_BEFORE_CUTOFF, "made 2022-12-31, 2 days before 2023-01-02"),
        (datetime(2023, 1, 2, 23), AuditKind.ISSUE_BEFORE_CUTOFF, "made 2023-01-02, 0 days before 2023-01-02"),
        (datetime(2023, 1, 3), AuditKind.ISSUE_AFTER_CUTOFF, "made 2023-01-03, 1 days after 2023-01-02"),
        (UNKNOWN_TIME, AuditKind.ISSUE_WITHOUT_DATE, "its creation date is unknown"),
    ],
)
def test_findings_before_on_and_after_the_cutoff(created: datetime, kind: AuditKind, summary: str) -> None:
    about = subject(make_instance(created_at=created.replace(tzinfo=UTC)))
    assert [(each.kind, each.summary) for each in find_by_cutoff(about, date(2023, 1, 2))] == [(kind, summary)]
