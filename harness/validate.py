"""Is an instance sound: what its tests do with the gold patch and without any patch, against its labels. Pure."""

from assay.harness.domain import Evidence, Instance, Model, Outcome, Status
from assay.harness.grade import FAILING, PASSING, grade
from assay.harness.reports import lookup


class Validation(Model):
    """What two controls say about an instance."""

    instance_id: str
    gold: Outcome
    null: Outcome
    fail_to_pass: tuple[str, ...] = ()
    """As measured: tests that pass with the gold patch and do not without."""
    pass_to_pass: tuple[str, ...] = ()
    """As measured: tests that pass with and without; expected failures are in neither."""
    label_differences: tuple[str, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether the gold patch resolves the instance and no patch does not."""
        return self.gold is Outcome.RESOLVED and self.null is Outcome.UNRESOLVED


def validation(instance: Instance, gold: Evidence | None, null: Evidence | None) -> Validation:
    """Compare an instance's labels with what its tests did.

    Args:
        instance: the instance with the labels to be checked.
        gold: evidence of its gold patch. None, or evidence without results, makes the instance invalid.
        null: evidence of no patch.
    """
    if gold is None or null is None:
        return Validation(instance_id=instance.id, gold=Outcome.INFRA_ERROR, null=Outcome.INFRA_ERROR)
    after, before = gold.report.tests, null.report.tests
    # An expected failure counts as a pass in grading, but it is no promise that a label should hold anybody to.
    passing = [test for test, status in after.items() if status is Status.PASSED]
    return Validation(
        instance_id=instance.id,
        gold=grade(instance, gold).outcome,
        null=grade(instance, null).outcome,
        fail_to_pass=tuple(sorted(t for t in passing if before.get(t, Status.MISSING) in FAILING | {Status.MISSING})),
        pass_to_pass=tuple(sorted(t for t in passing if before.get(t) is Status.PASSED)),
        label_differences=_differences(instance, gold, null),
    )


def _differences(instance: Instance, gold: Evidence, null: Evidence) -> tuple[str, ...]:
    lines = []
    for test in instance.fail_to_pass:
        before, after = lookup(test, null.report.tests), lookup(test, gold.report.tests)
        if before in PASSING or after not in PASSING:
            lines.append(f"labelled fail to pass, is {before} to {after}: {test}")
    for test in instance.pass_to_pass:
        before, after = lookup(test, null.report.tests), lookup(test, gold.report.tests)
        if before not in PASSING | {Status.SKIPPED} or after not in PASSING | {Status.SKIPPED}:
            lines.append(f"labelled pass to pass, is {before} to {after}: {test}")
    return tuple(lines)
