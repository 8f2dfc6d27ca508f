"""A part of a data set: rows that fit, and of these a sample in the proportions of the whole. Pure."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from assay.harness.domain import UNKNOWN_TIME, Instance
from assay.harness.errors import UserError
from assay.harness.metrics.annotations import LEVELS, Annotation, InstanceAnnotation
from assay.harness.patches.diff import MalformedPatchError, read_diff
from assay.instances.dataset import rows
from assay.instances.dataset.formats import FORMATS


@dataclass(frozen=True, slots=True)
class RowToSelect:
    """An instance with the row that it was read from."""

    instance: Instance
    row: Mapping[str, Any]
    graded: InstanceAnnotation | None = None
    """What people say of the instance."""

    @property
    def difficulty(self) -> str:
        """The time that a fix takes, by people or by the row's own column; empty where nobody says."""
        return str(self.graded.difficulty if self.graded else self.row.get("difficulty", ""))


STRATA: Mapping[str, Callable[[RowToSelect], str]] = {
    "repo": lambda each: each.instance.repo.lower(),
    "language": lambda each: each.instance.language,
    "year": lambda each: "" if each.instance.created_at == UNKNOWN_TIME else str(each.instance.created_at.year),
    "difficulty": lambda each: each.difficulty,
    "level": lambda each: LEVELS.get(each.difficulty, each.difficulty),
}
"""Names of what a sample may keep the proportions of."""


@dataclass(frozen=True, slots=True)
class RowFilter:
    """What rows must be like; what is empty or None asks for nothing."""

    languages: frozenset[str] = frozenset()
    repos: frozenset[str] = frozenset()
    """Repositories in lower case."""
    difficulties: frozenset[str] = frozenset()
    """Values of the column, or Multi-SWE-bench's levels."""
    is_sound: bool = False
    """Only instances that people find sound."""
    since: date | None = None
    until: date | None = None
    """The first and the last day; a row without a date is on none."""
    most_files: int = 0
    """Files that the fix may change; 0 for any number."""
    left_out: frozenset[str] = frozenset()
    """Ids in lower case."""

    def takes(self, each: RowToSelect) -> bool:
        instance, day = each.instance, each.instance.created_at.date()
        is_dated = instance.created_at != UNKNOWN_TIME
        return (
            (not self.languages or instance.language in self.languages)
            and (not self.repos or instance.repo.lower() in self.repos)
            and (not self.difficulties or not self.difficulties.isdisjoint({each.difficulty, STRATA["level"](each)}))
            and (not self.is_sound or (each.graded is not None and each.graded.is_sound))
            and (self.since is None or (is_dated and day >= self.since))
            and (self.until is None or (is_dated and day <= self.until))
            and (not self.most_files or _count_files(instance.gold_patch) <= self.most_files)
            and instance.id.lower() not in self.left_out
        )


def pair_rows(
    instances: Iterable[Instance], dataset: str, split: str | None, people: Iterable[Annotation] = ()
) -> list[RowToSelect]:
    """Read the rows of a data set again, each beside its instance; raises UserError where there are no plain rows."""
    grades = {each.instance_id.lower(): each for each in people if isinstance(each, InstanceAnnotation)}
    found: dict[str, Mapping[str, Any]] = {}
    for row in rows.find_table(dataset, split).read():
        value = getattr(row, "value", None)
        dialect = next((each for each in FORMATS.values() if isinstance(value, dict) and each.matches(value)), None)
        if dialect is not None and isinstance(value, dict):
            found[dialect.find_id(value).lower()] = value
    lacking = next((each.id for each in instances if each.id.lower() not in found), "")
    if lacking:
        raise UserError(f"{dataset}: {lacking} has no row of its own; make rows first: assay dataset convert")
    return [RowToSelect(each, found[each.id.lower()], grades.get(each.id.lower())) for each in instances]


def choose_sample(given: Sequence[RowToSelect], number: int, strata: Sequence[str], seed: str) -> list[RowToSelect]:
    """Return ``number`` rows, of each stratum its share of all (largest remainders), in the order of ``given``.

    Which rows of a stratum, the hash of seed and id decides: a larger sample of one stratum holds the smaller one.
    """
    groups: dict[tuple[str, ...], list[RowToSelect]] = defaultdict(list)
    for each in sorted(given, key=lambda each: hashlib.sha256(f"{seed}{each.instance.id}".encode()).hexdigest()):
        groups[tuple(STRATA[name](each) for name in strata)].append(each)
    number = min(number, len(given))
    exact = {key: number * len(group) / len(given) for key, group in groups.items()}
    taken = {key: int(share) for key, share in exact.items()}
    rest = sorted(exact, key=lambda key: (taken[key] - exact[key], key))
    for key in rest[: number - sum(taken.values())]:
        taken[key] += 1
    chosen = {each.instance.id for key, group in groups.items() for each in group[: taken[key]]}
    return [each for each in given if each.instance.id in chosen]


def _count_files(patch: str) -> int:
    try:
        return len(read_diff(patch))
    except MalformedPatchError:
        return 0
