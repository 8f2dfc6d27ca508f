"""What an audit says: findings with their evidence, and how heavy each weighs."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from assay.harness.domain import Model


class Severity(StrEnum):
    """How much a finding speaks against an instance."""

    FAULT = "fault"
    """A verdict on this instance says little: the answer is told, or the tests cannot tell right from wrong."""
    DOUBT = "doubt"
    """A person should look."""
    NOTE = "note"
    """A property worth counting, which speaks against nothing by itself."""


class AuditKind(StrEnum):
    """What is found."""

    SOLUTION_IN_ISSUE = "solution_in_issue"
    SOLUTION_IN_HINTS = "solution_in_hints"
    SOLUTION_LINKED = "solution_linked"
    WEAK_TESTS = "weak_tests"
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
    """How much of a solution is told, by the share of the gold patch's telling lines."""

    EXACT = "exact patch"
    MOST = "most lines"
    SOME = "some lines"


class AuditFinding(Model):
    """One thing that an audit has to say about an instance."""

    instance_id: str
    kind: AuditKind
    severity: Severity
    summary: str
    """One line for a person."""
    grade: LeakGrade | None = None
    """Of a solution that is told."""
    share: Annotated[float, Field(ge=0, le=1)] | None = None
    """Of the gold patch's telling lines that are told, or of the mutants that no test notices; 0 to 1."""
    evidence: tuple[str, ...] = ()
    """The very lines, names, dates or tests."""
