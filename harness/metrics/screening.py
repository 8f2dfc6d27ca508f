"""How far the rate of a run can be believed: what is known against its instances, and the rate without them. Pure."""

from collections.abc import Iterable, Mapping, Set
from enum import StrEnum

from assay.harness.domain import Model
from assay.harness.statistics import Interval, wilson


class Reproach(StrEnum):
    """What is known against the verdict on an instance."""

    LEAKED = "leaked"
    """The issue or its comments hold most of the fix."""
    WEAK = "weak"
    """The tests let no patch, most mutants of the fix, or any value pass."""
    OLD = "old"
    """The issue is older than the end of the model's training."""
    REFUTED = "refuted"
    """A test of the developers that passes with the gold patch fails with this patch (PatchDiff)."""
    SUSPICIOUS = "suspicious"
    """The patch behaves otherwise than the gold patch where one of the two is as before (PatchDiff)."""
    UNDETERMINED = "undetermined"
    """The tests ask for what neither issue nor tree says."""
    UNCLEAR = "unclear"
    """People find that the issue can be read in several ways, or that nobody can know what it asks."""
    UNFAIR = "unfair"
    """People find that the tests fail reasonable fixes, or another fault of the instance."""


EXCUSES = frozenset({Reproach.UNDETERMINED, Reproach.UNCLEAR, Reproach.UNFAIR})
"""They explain failures and make no pass weaker."""


class ScreenedRate(Model):
    """The rate of a run without some of its instances."""

    instances: int
    """Submitted instances that the reproach is about."""
    resolved: int
    """Number of these that are resolved."""
    share: Interval
    """Share of the resolved ones in all resolved ones."""
    rate_as_failed: Interval
    """The rate if they count as unresolved."""
    rate_of_others: Interval
    """The rate over the other instances."""
    resolved_ids: tuple[str, ...]


class Screening(Model):
    """The rate of a run beside the rates that are left."""

    submitted: int
    resolved: int
    rate: Interval
    reproaches: dict[Reproach, ScreenedRate]
    together: ScreenedRate
    unresolved_undetermined: int
    """Unresolved instances whose tests ask for what neither issue nor tree says."""
    annotated: int = 0
    """Submitted instances that people graded."""
    adjudicated: int = 0
    """Differences of the patches from gold on which people gave a verdict."""
    not_looked_for: tuple[Reproach, ...]
    """Reproaches that nobody looked for: that none is listed says nothing."""


def screen(
    submitted: Set[str], resolved: Set[str], found: Mapping[Reproach, Iterable[str]], looked_for: Iterable[Reproach]
) -> Screening:
    """Count what is known against the instances of a run; ``found`` has the ids of each reproach."""
    by_kind = {kind: submitted & set(found.get(kind, ())) for kind in looked_for}
    counted = [ids for kind, ids in by_kind.items() if kind not in EXCUSES]
    return Screening(
        submitted=len(submitted),
        resolved=len(resolved),
        rate=wilson(len(resolved), len(submitted)),
        reproaches={kind: _leave_out(submitted, resolved, ids) for kind, ids in by_kind.items()},
        together=_leave_out(submitted, resolved, set[str]().union(*counted)),
        unresolved_undetermined=len(by_kind.get(Reproach.UNDETERMINED, set()) - resolved),
        not_looked_for=tuple(kind for kind in Reproach if kind not in by_kind),
    )


def _leave_out(submitted: Set[str], resolved: Set[str], ids: Set[str]) -> ScreenedRate:
    mine, others = resolved & ids, submitted - ids
    return ScreenedRate(
        instances=len(ids),
        resolved=len(mine),
        share=wilson(len(mine), len(resolved)),
        rate_as_failed=wilson(len(resolved - ids), len(submitted)),
        rate_of_others=wilson(len(resolved & others), len(others)),
        resolved_ids=tuple(sorted(mine)),
    )
