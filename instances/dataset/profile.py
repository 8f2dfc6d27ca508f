"""What data sets are like: statements, fixes, tests, dates, repositories, kinds of tasks. Pure.

What SetUpAgent (arXiv 2503.07701) compares of data sets, as far as rows alone say it.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean, quantiles

from assay.harness.domain import UNKNOWN_TIME, Instance, Model
from assay.harness.metrics.category import category
from assay.harness.patches.diff import FileChange, MalformedPatchError
from assay.instances.audit import AuditKind, Severity, audit
from assay.instances.audit.statement import count_words
from assay.instances.audit.subject import Subject, plain, subject

DATE = "date of the row"  # its figures are days since 0001-01-01
PROPERTIES: Mapping[str, frozenset[AuditKind]] = {
    "nothing to reproduce": frozenset({AuditKind.NO_REPRODUCTION}),
    "fewer than 60 words and nothing to reproduce": frozenset({AuditKind.UNDERSPECIFIED}),
    "only links or pictures": frozenset({AuditKind.LINK_ONLY, AuditKind.IMAGE_ONLY}),
    "most of the fix in issue or hints": frozenset({AuditKind.SOLUTION_IN_ISSUE, AuditKind.SOLUTION_IN_HINTS}),
}
"""Shares of the rows with a finding of an audit; of leaks only the faults count."""
LEAKS = PROPERTIES["most of the fix in issue or hints"]


class Distribution(Model):
    """The values of one measure in one data set."""

    n: int
    mean: float
    low: float
    """First quartile."""
    median: float
    high: float
    """Third quartile."""


class ProfiledMeasure(Model):
    """A measure of each row, by data set."""

    measure: str
    values: tuple[Distribution | None, ...]
    """None where no row has a value."""
    second_larger: float | None
    """Share of the pairs of a row of each set in which the second set's is larger; equal ones count half."""


class ProfiledShare(Model):
    """Rows with a property, by data set."""

    name: str
    rows: tuple[int, ...]


class DatasetProfile(Model):
    """One data set, or two beside each other."""

    datasets: tuple[str, ...]
    instances: tuple[int, ...]
    repositories: tuple[int, ...]
    largest_repository: tuple[int, ...]
    """Rows of the repository with the most."""
    measures: tuple[ProfiledMeasure, ...]
    properties: tuple[ProfiledShare, ...]
    languages: tuple[ProfiledShare, ...]
    types: tuple[ProfiledShare, ...]


def _count_lines(changes: Iterable[FileChange]) -> int:
    return sum(line.mark in "+-" for each in changes for hunk in each.hunks for line in hunk.lines)


MEASURES: Mapping[str, Callable[[Subject], float | None]] = {
    "words of the statement": lambda each: count_words(plain(each.instance.problem_statement)),
    "words of the hints": lambda each: count_words(plain(each.instance.hints)),
    "files of the fix": lambda each: len(each.gold) or None,
    "hunks of the fix": lambda each: sum(len(change.hunks) for change in each.gold) or None,
    "lines of the fix": lambda each: _count_lines(each.gold) or None,
    "files of the tests": lambda each: len(each.tests) or None,
    "lines of the tests": lambda each: _count_lines(each.tests) or None,
    "fail-to-pass tests": lambda each: len(each.instance.fail_to_pass),
    "pass-to-pass tests": lambda each: len(each.instance.pass_to_pass),
    DATE: lambda each: None if each.instance.created_at == UNKNOWN_TIME else each.instance.created_at.toordinal(),
}
"""None where a row has no such patch, or none that can be read, or no date."""


def profile(sets: Mapping[str, Sequence[Instance]]) -> DatasetProfile:
    """Describe one data set or more, by name; of two, also in what share of pairs the second has more."""
    rows = [[_read(each) for each in instances] for instances in sets.values()]
    kinds = [[_find_kinds(each) for each in instances] for instances in sets.values()]
    repos = [Counter(each.repo.lower() for each in instances) for instances in sets.values()]
    return DatasetProfile(
        datasets=tuple(sets),
        instances=tuple(map(len, rows)),
        repositories=tuple(map(len, repos)),
        largest_repository=tuple(max(each.values(), default=0) for each in repos),
        measures=tuple(_describe(name, [map(of, some) for some in rows]) for name, of in MEASURES.items()),
        properties=tuple(
            ProfiledShare(name=name, rows=tuple(sum(not wanted.isdisjoint(each) for each in some) for some in kinds))
            for name, wanted in PROPERTIES.items()
        ),
        languages=_share([[each.language for each in instances] for instances in sets.values()]),
        types=_share([[category(each).name for each in instances] for instances in sets.values()]),
    )


def _read(instance: Instance) -> Subject:
    try:
        return subject(instance)
    except MalformedPatchError:
        return Subject(instance, (), ())


def _find_kinds(instance: Instance) -> set[AuditKind]:
    return {each.kind for each in audit(instance) if each.kind not in LEAKS or each.severity is Severity.FAULT}


def _describe(name: str, values: Iterable[Iterable[float | None]]) -> ProfiledMeasure:
    known = [sorted(value for value in some if value is not None) for some in values]
    return ProfiledMeasure(
        measure=name,
        values=tuple(_distribute(some) for some in known),
        second_larger=count_larger(*known) if len(known) == 2 and all(known) else None,
    )


def _distribute(values: Sequence[float]) -> Distribution | None:
    if not values:
        return None
    low, median, high = quantiles(values, n=4, method="inclusive") if len(values) > 1 else [*values] * 3
    return Distribution(n=len(values), mean=fmean(values), low=low, median=median, high=high)


def count_larger(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the share of pairs in which the second value is larger, equal ones as half; both sorted, none empty."""
    below = sum(bisect_left(first, value) + bisect_right(first, value) for value in second)
    return below / (2 * len(first) * len(second))


def _share(names: Sequence[Sequence[str]]) -> tuple[ProfiledShare, ...]:
    """Return a line for each name, the one with the largest share in any set first."""
    counts = [Counter(some) for some in names]
    order = sorted(
        {name for each in counts for name in each},
        key=lambda name: (-max(each[name] / max(1, each.total()) for each in counts), name),
    )
    return tuple(ProfiledShare(name=name, rows=tuple(each[name] for each in counts)) for name in order)
