"""Runs that can be compared with each other."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from assay.harness.metrics.comparison import same_dataset
from assay.viewer.runs import ViewedRun, Viewer

ALL = "all"  # begins the names of pages that compare a group; other pages name their runs
Group = tuple[ViewedRun, ...]
Ids = Mapping[str, frozenset[str]]  # instances that a run has judged, by the run's key


def find_groups(viewer: Viewer) -> Iterator[tuple[str, Group]]:
    """Yield groups of runs, each with the name of the page that compares it.

    The runs of a group have a data set and some instances in common, or judged the very same instances. A run is in a
    group if it can be.
    """
    judged = [*viewer.evaluations().values()]
    datasets = {run.key: run.store.load_run().dataset for run in judged}
    ids = {run.key: _get_instances(run) for run in judged}
    found: list[Group] = []
    for same in _part(judged, lambda one, other: same_dataset(datasets[one.key], datasets[other.key])):
        found += _connect(same, ids)
        found += _part(same, lambda one, other: ids[one.key] == ids[other.key])
    several = {tuple(run.key for run in group): group for group in found if len(group) > 1}
    yield from ((ALL if number == 1 else f"{ALL}-{number}", group) for number, group in enumerate(several.values(), 1))


def _get_instances(run: ViewedRun) -> frozenset[str]:
    """Return the ids that a run has judged; for an unfinished one, all that were asked for."""
    report = run.load_report()
    return frozenset(report.outcomes if report else run.store.load_run().instance_ids)


def _connect(runs: Sequence[ViewedRun], ids: Ids) -> list[Group]:
    """Return groups with an instance in common; runs with the most instances come together first."""
    groups: list[Group] = []
    by_size = sorted(runs, key=lambda run: -len(ids[run.key]))
    for first in by_size:
        if any(first is run for group in groups for run in group):
            continue
        common, members = ids[first.key], {first.key}
        for run in by_size:
            if common & ids[run.key]:
                common, members = common & ids[run.key], members | {run.key}
        groups.append(tuple(run for run in runs if run.key in members))
    return groups


def _part(runs: Sequence[ViewedRun], alike: Callable[[ViewedRun, ViewedRun], bool]) -> list[Group]:
    """Part runs into groups that are alike, in their order."""
    groups: list[list[ViewedRun]] = []
    for run in runs:
        home = next((group for group in groups if alike(group[0], run)), None)
        if home is None:
            groups.append([run])
        else:
            home.append(run)
    return [tuple(group) for group in groups]
