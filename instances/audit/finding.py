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
    UNDETERMINED = "undetermined"
    DETERMINED = "determined"
    TESTS_OUTSIDE_TEST_PATCH = "tests_outside_test_patch"
    NO_TEST_FILE = "no_test_file"
    NO_FAIL_TO_PASS = "no_fail_to_pass"
    GOLD_TOUCHES_TESTS = "gold_touches_tests"
    BROKEN_PATCH = "broken_patch"


class DemandKind(StrEnum):
    """Kind of what tests ask for."""

    NAME = "name"
    SIGNATURE = "signature"
    MESSAGE = "message"
    CONSTANT = "constant"


class StatedIn(StrEnum):
    """The text that states what tests ask for."""

    ISSUE = "issue"
    HINTS = "hints"
    TREE = "tree"
    CONVENTION = "convention"
    """The issue or old code has its words in another spelling, or old code a message like it."""
    NOWHERE = "nowhere"


class Demand(Model):
    """Something that tests ask for and the gold patch brings."""

    kind: DemandKind
    text: str
    asked: str
    """The first place in the tests: ``path:line``."""
    brought: str = ""
    """The line of the gold patch."""
    asserted: bool = True
    """Whether an assertion expects it, or a test uses it as a name; other texts may only be alike by chance."""
    stated: StatedIn = StatedIn.NOWHERE
    file: str = ""
    """The file of the tree that states it, or ``issue`` or ``hints``."""
    line: int = 0
    """The line in it, from 1."""
    quote: str = ""

    def __str__(self) -> str:
        place = f"{self.stated} {self.file}:{self.line}: {self.quote}" if self.file else f"{self.stated} {self.quote}"
        return f"{self.kind} {self.text!r}  [asked: {self.asked}] [{place.strip()}] [gold: {self.brought}]"


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
    demands: tuple[Demand, ...] = ()
    """What the tests ask for, and where it is stated."""
    """The lines, names, dates or tests themselves."""
