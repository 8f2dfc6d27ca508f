"""Problems with the instances of a data set: leaked solutions, weak or narrow tests, underspecified statements.

``audit`` looks at the row of an instance and needs no container. ``weak`` judges the results of runs: of the controls,
and of ``mutants`` of the gold patch.
"""

from collections.abc import Callable, Iterable
from datetime import date

from assay.harness.domain import Instance
from assay.harness.patches.diff import MalformedPatchError
from assay.instances.audit import dates, determinacy, leakage, patches, statement
from assay.instances.audit.finding import AuditFinding, AuditKind, LeakGrade, Severity
from assay.instances.audit.subject import Subject, subject
from assay.instances.trees.search import SearchedTree

__all__ = ["RULES", "AuditFinding", "AuditKind", "AuditRule", "LeakGrade", "Severity", "audit"]

AuditRule = Callable[[Subject], Iterable[AuditFinding]]

RULES: tuple[AuditRule, ...] = (
    leakage.solution_leaked,
    leakage.solution_linked,
    statement.no_link_for_a_statement,
    statement.too_little,
    determinacy.find_undetermined,
    patches.no_fail_to_pass,
    patches.find_unnamed_tests,
    patches.no_test_file,
    patches.gold_touches_tests,
)
"""A new rule is one function and one line here."""


def audit(instance: Instance, cutoff: date | None = None, tree: SearchedTree | None = None) -> tuple[AuditFinding, ...]:
    """Return the findings of all rules, in their order; those about dates only with a model's training ``cutoff``.

    Raises EnvironmentFailure if the tree cannot be read.
    """
    try:
        about = subject(instance, tree)
    except MalformedPatchError as error:
        summary = f"its gold patch or test patch cannot be read: {error}"
        return (Subject(instance, (), ()).make_finding(AuditKind.BROKEN_PATCH, Severity.FAULT, summary),)
    found = [finding for rule in RULES for finding in rule(about)]
    return (*found, *(dates.find_by_cutoff(about, cutoff) if cutoff else ()))
