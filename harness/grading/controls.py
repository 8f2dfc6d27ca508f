"""Validation of an instance: its labels against the results with the gold patch and without a patch. Pure."""

from collections.abc import Sequence

from assay.harness.domain import FAILING, INFRASTRUCTURE, PASSING, Evidence, Instance, Model, Outcome, Status, Verdict
from assay.harness.grading.stability import Seen, Stability, outcomes, quarantine
from assay.harness.rulings.normalise import normalise_results

Runs = Sequence[Evidence | None]
"""Evidence of each run of the same evaluation; None for a run without evidence."""


class Validation(Model):
    """Result of an instance's two controls, each run several times."""

    instance_id: str
    gold: tuple[Outcome, ...]
    null: tuple[Outcome, ...]
    valid_after_quarantine: bool = False
    """Whether the instance is valid without its unstable tests."""
    fail_to_pass: tuple[str, ...] = ()
    """Measured: tests that pass in every run with the gold patch and in none without."""
    pass_to_pass: tuple[str, ...] = ()
    """Measured: tests that pass in every run with and without it; expected failures are in neither list."""
    label_differences: tuple[str, ...] = ()
    unstable: tuple[str, ...] = ()
    quarantined: tuple[str, ...] = ()
    """The expected ones of the unstable tests."""

    @property
    def valid(self) -> bool:
        """Whether every run with the gold patch resolves the instance, and no run without a patch."""
        return _is_sound(self.gold, self.null)


def validation(instance: Instance, gold: Runs, null: Runs, stability: Stability) -> Validation:
    """Compare the labels of an instance with the results of its tests; a run without results makes it invalid."""
    reduced = quarantine(instance, stability.quarantined)
    reported = {name for each in gold if each is not None for name in normalise_results(instance, each.report.tests)}
    runs = (len(stability.gold), len(stability.null))
    passing = {
        name: each
        for name, each in stability.tests.items()
        if name in reported and _only(each.gold, Status.PASSED) and (len(each.gold), len(each.null)) == runs
    }
    return Validation(
        instance_id=instance.id,
        gold=stability.gold,
        null=stability.null,
        valid_after_quarantine=_is_sound(outcomes(reduced, gold), outcomes(reduced, null)),
        # Grading counts an expected failure as a pass, but a label should not demand one.
        fail_to_pass=tuple(name for name, each in passing.items() if _only(each.null, *FAILING, Status.MISSING)),
        pass_to_pass=tuple(name for name, each in passing.items() if _only(each.null, Status.PASSED)),
        label_differences=_find_differences(instance, stability),
        unstable=stability.unstable,
        quarantined=stability.quarantined,
    )


def unfit_reason(gold: Verdict, null: Verdict) -> str:
    """Return why an instance's controls show no difference between right and wrong patches; empty if they do."""
    if not gold.resolved:
        return f"its gold patch is {gold.outcome}: {gold.reason}"
    if null.resolved:
        return "no patch at all is resolved"
    if null.outcome in INFRASTRUCTURE:
        return f"its control without a patch is {null.outcome}: {null.reason}"
    return ""


def _is_sound(gold: Sequence[Outcome], null: Sequence[Outcome]) -> bool:
    return set(gold) == {Outcome.RESOLVED} and set(null) == {Outcome.UNRESOLVED}


def _only(statuses: Sequence[Status], *allowed: Status) -> bool:
    return all(status in allowed for status in statuses)


def _find_differences(instance: Instance, stability: Stability) -> tuple[str, ...]:
    lines = []
    for test in instance.fail_to_pass:
        each = stability.tests[test]
        if any(status in PASSING for status in each.null) or not _only(each.gold, *PASSING):
            lines.append(f"labelled fail to pass, is {_describe_change(each)}: {test}")
    for test in instance.pass_to_pass:
        each = stability.tests[test]
        if not _only((*each.gold, *each.null), *PASSING, Status.SKIPPED):
            lines.append(f"labelled pass to pass, is {_describe_change(each)}: {test}")
    return tuple(lines)


def _describe_change(seen: Seen) -> str:
    before, after = (" or ".join(dict.fromkeys(side)) for side in (seen.null, seen.gold))
    return f"{before} to {after}"
