"""What is known against instances, and the rates that are left: counted by hand."""

from assay.harness.metrics.screening import Reproach, screen
from assay.harness.statistics import wilson

ALL = {f"a-{number}" for number in range(10)}
RESOLVED = {"a-0", "a-1", "a-2", "a-3"}


def test_rates_as_failed_and_without_are_those_of_a_count_by_hand() -> None:
    found = screen(ALL, RESOLVED, {Reproach.LEAKED: ["a-0", "a-1", "a-9", "not-here"]}, [Reproach.LEAKED])
    leaked = found.reproaches[Reproach.LEAKED]
    assert (found.rate, leaked.instances, leaked.resolved_ids) == (wilson(4, 10), 3, ("a-0", "a-1"))
    assert (leaked.share, leaked.rate_as_failed, leaked.rate_of_others) == (wilson(2, 4), wilson(2, 10), wilson(2, 7))


def test_together_counts_an_instance_once_and_leaves_out_what_makes_no_pass_weaker() -> None:
    known = {Reproach.LEAKED: ["a-0"], Reproach.WEAK: ["a-0", "a-1"], Reproach.UNDETERMINED: ["a-2", "a-8"]}
    found = screen(ALL, RESOLVED, known, known)
    assert found.together.resolved_ids == ("a-0", "a-1")
    assert found.unresolved_undetermined == 1


def test_what_nobody_looked_for_is_named() -> None:
    found = screen(ALL, RESOLVED, {}, [Reproach.LEAKED])
    assert set(found.not_looked_for) == set(Reproach) - {Reproach.LEAKED}
    assert found.reproaches[Reproach.LEAKED].resolved == 0
