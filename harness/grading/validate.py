"""Is an instance sound: what its tests do with the gold patch and without any patch, against its labels. Pure."""

from collections.abc import Sequence

from assay.harness.domain import FAILING, INFRASTRUCTURE, PASSING, Evidence, Instance, Model, Outcome, Status, Verdict
from assay.harness.grading.grade import steady
from assay.harness.grading.stability import Seen, Stability, outcomes, quarantine

Runs = Sequence[Evidence | None]
"""Evidence of the same evaluation, run by run; None for a run that left none."""


class Validation(Model):
    """What two controls, each run several times, say about an instance."""

    instance_id: str
    gold: tuple[Outcome, ...]
    null: tuple[Outcome, ...]
    valid_after_quarantine: bool = False
    """Whether the instance is valid once its unstable tests are left out."""
    fail_to_pass: tuple[str, ...] = ()
    """As measured: tests that pass in every run with the gold patch and in none without."""
    pass_to_pass: tuple[str, ...] = ()
    """As measured: tests that pass in every run with and without; expected failures are in neither."""
    label_differences: tuple[str, ...] = ()
    unstable: tuple[str, ...] = ()
    """Tests on which the runs do not agree."""
    quarantined: tuple[str, ...] = ()
    """Those of them that are expected."""

    @property
    def valid(self) -> bool:
        """Whether the gold patch resolves the instance in every run and no patch in none."""
        return _sound(self.gold, self.null)


def validation(instance: Instance, gold: Runs, null: Runs, stability: Stability) -> Validation:
    """Compare an instance's labels with what its tests did.

    Args:
        instance: the instance with the labels to be checked.
        gold: evidence of its gold patch. A run without results makes the instance invalid.
        null: evidence of no patch.
        stability: what the same runs showed.
    """
    reduced = quarantine(instance, stability.quarantined)
    reported = {name for each in gold if each is not None for name in steady(instance, each.report.tests)}
    passing = {
        name: each
        for name, each in stability.tests.items()
        if name in reported and _only(each.gold, Status.PASSED) and _in_all_runs(each, stability)
    }
    return Validation(
        instance_id=instance.id,
        gold=stability.gold,
        null=stability.null,
        valid_after_quarantine=_sound(outcomes(reduced, gold), outcomes(reduced, null)),
        # An expected failure counts as a pass in grading, but it is no promise that a label should hold anybody to.
        fail_to_pass=tuple(name for name, each in passing.items() if _only(each.null, *FAILING, Status.MISSING)),
        pass_to_pass=tuple(name for name, each in passing.items() if _only(each.null, Status.PASSED)),
        label_differences=_differences(instance, stability),
        unstable=stability.unstable,
        quarantined=stability.quarantined,
    )


def unfit_reason(gold: Verdict, null: Verdict) -> str:
    """Say why an instance cannot tell a right patch from a wrong one, as its two controls show; empty if it can."""
    if not gold.resolved:
        return f"its gold patch is {gold.outcome}: {gold.reason}"
    if null.resolved:
        return "no patch at all is resolved"
    if null.outcome in INFRASTRUCTURE:
        return f"its control without a patch is {null.outcome}: {null.reason}"
    return ""


def _sound(gold: Sequence[Outcome], null: Sequence[Outcome]) -> bool:
    return set(gold) == {Outcome.RESOLVED} and set(null) == {Outcome.UNRESOLVED}


def _in_all_runs(seen: Seen, stability: Stability) -> bool:
    return (len(seen.gold), len(seen.null)) == (len(stability.gold), len(stability.null))


def _only(statuses: Sequence[Status], *allowed: Status) -> bool:
    return all(status in allowed for status in statuses)


def _differences(instance: Instance, stability: Stability) -> tuple[str, ...]:
    lines = []
    for test in instance.fail_to_pass:
        each = stability.tests[test]
        if any(status in PASSING for status in each.null) or not _only(each.gold, *PASSING):
            lines.append(f"labelled fail to pass, is {_change(each)}: {test}")
    for test in instance.pass_to_pass:
        each = stability.tests[test]
        if not _only((*each.gold, *each.null), *PASSING, Status.SKIPPED):
            lines.append(f"labelled pass to pass, is {_change(each)}: {test}")
    return tuple(lines)


def _change(seen: Seen) -> str:
    before, after = (" or ".join(dict.fromkeys(side)) for side in (seen.null, seen.gold))
    return f"{before} to {after}"
