"""Runs that can be compared with each other."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from assay.harness.domain import DatasetRef
from assay.harness.metrics.comparison import same_dataset
from assay.viewer.index import get_stamp
from assay.viewer.runs import ViewedRun, Viewer

ALL = "all"  # begins the names of pages that compare a group; other pages name their runs
FILES = ("run.json", "report.json")  # what a member is read from


@dataclass(frozen=True, slots=True, eq=False)
class JudgedRun:
    """A run as it was read; each reading is another member."""

    run: ViewedRun
    dataset: DatasetRef
    ids: frozenset[str]
    """The instances that it has judged; for an unfinished run, all that were asked for."""


Group = tuple[JudgedRun, ...]


@dataclass(frozen=True, slots=True, eq=False)
class NamedGroup:
    """Runs that can be compared, with the name of the page that does so."""

    name: str
    members: Group

    @property
    def runs(self) -> tuple[ViewedRun, ...]:
        return tuple(member.run for member in self.members)


def find_groups(viewer: Viewer) -> tuple[NamedGroup, ...]:
    """Return groups of runs.

    The runs of a group have a data set and some instances in common, or judged the very same instances. A run is in a
    group if it can be.
    """
    judged = viewer.evaluations().values()
    if len(judged) < 2:
        return ()  # without reading the report of a large run
    return _make_groups(tuple(_read(each, *(get_stamp(each.store.root / name) for name in FILES)) for each in judged))


def find_group(viewer: Viewer, run: ViewedRun, instance_id: str = "") -> NamedGroup | None:
    """Return the first group that a run is in; with an instance, in which another run has judged that too."""
    for group in find_groups(viewer):
        judges = [each.run for each in group.members if not instance_id or instance_id in each.ids]
        if run in group.runs and judges not in ([], [run]):
            return group
    return None


@lru_cache(maxsize=256)
def _read(run: ViewedRun, *_stamps: object) -> JudgedRun:
    about, report = run.store.load_run(), run.load_report()
    return JudgedRun(run, about.dataset, frozenset(report.outcomes if report else about.instance_ids))


@lru_cache(maxsize=4)
def _make_groups(members: tuple[JudgedRun, ...]) -> tuple[NamedGroup, ...]:
    found: list[Group] = []
    for same in _part(members, lambda one, other: same_dataset(one.dataset, other.dataset)):
        found += _connect(same)
        found += _part(same, lambda one, other: one.ids == other.ids)
    several = dict.fromkeys(group for group in found if len(group) > 1)
    return tuple(
        NamedGroup(ALL if number == 1 else f"{ALL}-{number}", group) for number, group in enumerate(several, 1)
    )


def _connect(members: Group) -> list[Group]:
    """Return groups with an instance in common; runs with the most instances come together first."""
    groups: list[Group] = []
    by_size = sorted(members, key=lambda each: -len(each.ids))
    for first in by_size:
        if any(first in group for group in groups):
            continue
        common, chosen = first.ids, {first}
        for each in by_size:
            if common & each.ids:
                common, chosen = common & each.ids, chosen | {each}
        groups.append(tuple(each for each in members if each in chosen))
    return groups


def _part(members: Group, alike: Callable[[JudgedRun, JudgedRun], bool]) -> list[Group]:
    """Part members into groups that are alike, in their order."""
    groups: list[list[JudgedRun]] = []
    for member in members:
        home = next((group for group in groups if alike(group[0], member)), None)
        if home is None:
            groups.append([member])
        else:
            home.append(member)
    return [tuple(group) for group in groups]
