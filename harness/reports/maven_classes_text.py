"""Log of Maven for data sets whose labels name whole classes: one with a skipped test is not passed.

Only the lines of counts are read, not the failed methods, so that a class has one status.
"""

from assay.harness.domain import Status
from assay.harness.reports.base import plain_lines, worst
from assay.harness.reports.maven_text import classes, find_gap

__all__ = ["NAME", "find_gap", "parse"]

NAME = "maven_classes_text"


def parse(text: str) -> dict[str, Status]:
    return worst(classes(plain_lines(text), _status))


def _status(ran: int, failures: int, errors: int, skipped: int) -> Status | None:
    if failures or errors:
        return Status.FAILED
    if skipped:
        return Status.SKIPPED
    return Status.PASSED if ran else None
