"""Findings of an audit, with severity and evidence."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from assay.harness.domain import Model


class Severity(StrEnum):
    FAULT = "fault"
    """A verdict on this instance says little: the solution is leaked, or the tests judge patches wrongly."""
    DOUBT = "doubt"
    """A person should check it."""
    NOTE = "note"
    """A property to count; it is not a problem by itself."""


class AuditKind(StrEnum):
    SOLUTION_IN_ISSUE = "solution_in_issue"
    SOLUTION_IN_HINTS = "solution_in_hints"
    SOLUTION_LINKED = "solution_linked"
    WEAK_TESTS = "weak_tests"
    VACUOUS_LABELS = "vacuous_labels"
    GOLD_FAILS = "gold_fails"
    ISSUE_BEFORE_CUTOFF = "issue_before_cutoff"
    ISSUE_AFTER_CUTOFF = "issue_after_cutoff"
    ISSUE_WITHOUT_DATE = "issue_without_date"
    UNDERSPECIFIED = "underspecified"
    NO_REPRODUCTION = "no_reproduction"
    LINK_ONLY = "link_only"
    IMAGE_ONLY = "image_only"
    NAME_ONLY_IN_GOLD = "name_only_in_gold"
    TEXT_ONLY_IN_GOLD = "text_only_in_gold"
    TESTS_OUTSIDE_TEST_PATCH = "tests_outside_test_patch"
    NO_TEST_FILE = "no_test_file"
    NO_FAIL_TO_PASS = "no_fail_to_pass"
    GOLD_TOUCHES_TESTS = "gold_touches_tests"
    BROKEN_PATCH = "broken_patch"


class LeakGrade(StrEnum):
    """Extent of a leak, by the share of the gold patch's distinctive lines."""

    EXACT = "exact patch"
    MOST = "most lines"
    SOME = "some lines"


class AuditFinding(Model):
    """One problem or property of an instance that an audit found."""

    instance_id: str
    kind: AuditKind
    severity: Severity
    summary: str
    """One line for the user."""
    grade: LeakGrade | None = None
    """Extent, if a solution is leaked."""
    share: Annotated[float, Field(ge=0, le=1)] | None = None
    """Share of the gold patch's distinctive lines that are leaked, or of the mutants that are resolved; 0 to 1."""
    evidence: tuple[str, ...] = ()
    """The lines, names, dates or tests themselves."""
