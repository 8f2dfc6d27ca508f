"""Results of a run from its witnesses: report file, output and tripwires. Pure."""

from collections.abc import Callable, Collection, Mapping

from assay.harness import reports
from assay.harness.domain import Status, TestPlan, TestReport, Tripwire
from assay.harness.runners import Tripwires, find
from assay.harness.runners.base import PLACE, UNSURE

Expected = Mapping[str, Mapping[str, Status]]  # statuses that tripwires must have, by name, by place


def expect_at_places(tripwires: Tripwires | None, printed: bytes) -> Expected:
    """Return the statuses expected at each place; the script that placed the tripwires has ``printed`` the places."""
    expected = tripwires.expected if tripwires else {}
    return {
        place: {name.replace(PLACE, place.rstrip(UNSURE)): status for name, status in expected.items()}
        for place in printed.decode(errors="replace").split()
    }


def read_witnesses(
    plan: TestPlan,
    files: Mapping[str, bytes],
    output: bytes,
    placed: Expected,
    is_label: Callable[[str], bool] | None = None,
    left_out: Collection[str] = (),
) -> tuple[TestReport, dict[str, Tripwire]]:
    """Read the project's own results, and the tripwires.

    Of a place whose process may not be there, nothing is expected if none of its tripwires is seen. Tests with a word
    of ``left_out`` are neither.
    """
    prints = find(plan.runner).PRINTS if plan.runner else frozenset()
    expected = {name: status for each in placed.values() for name, status in each.items()}
    names = {**dict.fromkeys(left_out, Status.MISSING), **expected}
    report, seen = reports.read(plan, files, output.decode(errors="replace"), names, prints, is_label)
    unsure = [names for place, names in placed.items() if place.endswith(UNSURE)]
    shown = {name for name, each in seen.items() if {each.reported, each.printed} - {Status.MISSING, None}}
    absent = {name for names in unsure if shown.isdisjoint(names) for name in names}
    return report, {name: tripwire for name, tripwire in seen.items() if name in expected and name not in absent}
