"""The smallest difference of two systems' rates that a data set can show, with clustered rows. Pure.

Both systems are evaluated on all rows, and compared by the rows that only one resolves, in a two-sided test.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from math import sqrt
from statistics import NormalDist, fmean

from assay.harness.domain import Model


class Power(Model):
    """How small a difference some rows can show."""

    rows: dict[str, int]
    """Rows of each repository."""
    adds: dict[str, float]
    """Effective rows less those without the repository; negative where it outweighs the others."""
    effective_rows: float
    """Number of independent rows that show as much."""
    difference: float
    """Smallest difference of the rates that is found with the given chance."""
    unclustered_difference: float
    """The same if rows of a repository had nothing in common."""


def count_effective(sizes: Collection[int], correlation: float) -> float:
    """Return the effective number of rows in clusters of these sizes (Kish: rows by the design effect)."""
    rows = sum(sizes)
    return rows / (1 + (sum(size * size for size in sizes) / rows - 1) * correlation) if rows else 0.0


def find_difference(rows: float, differ: float, alpha: float, chance: float) -> float:
    """Return the smallest difference that is found; ``differ``: share of the rows that only one system resolves."""
    width = (NormalDist().inv_cdf(1 - alpha / 2) + NormalDist().inv_cdf(chance)) ** 2
    found = sqrt(width * differ / (rows + width))  # difference² = width (differ - difference²) / rows
    return found if 0 < found <= differ else width / (rows + width)  # no fewer rows can differ


def estimate_power(
    repos: Sequence[str], differ: float, correlation: float, *, alpha: float = 0.05, chance: float = 0.8
) -> Power:
    """Return the power of rows of these repositories; ``chance`` is that of finding a difference."""
    sizes = dict(Counter(repos).most_common())
    whole = count_effective(sizes.values(), correlation)
    without = {name: count_effective([*(sizes | {name: 0}).values()], correlation) for name in sizes}
    return Power(
        rows=sizes,
        adds={name: whole - each for name, each in without.items()},
        effective_rows=whole,
        difference=find_difference(whole, differ, alpha, chance),
        unclustered_difference=find_difference(len(repos), differ, alpha, chance),
    )


def correlate(values: Mapping[str, float], repos: Mapping[str, str]) -> float:
    """Return the correlation of a figure within repositories, by analysis of variance; 0 where it is negative."""
    groups: dict[str, list[float]] = defaultdict(list)
    for name, value in values.items():
        groups[repos[name]].append(value)
    rows, clusters, mean = len(values), len(groups), fmean(values.values())
    if not 1 < clusters < rows:
        return 0.0
    between = sum(len(each) * (fmean(each) - mean) ** 2 for each in groups.values()) / (clusters - 1)
    within = sum((value - fmean(each)) ** 2 for each in groups.values() for value in each) / (rows - clusters)
    size = (rows - sum(len(each) ** 2 for each in groups.values()) / rows) / (clusters - 1)
    total = between + (size - 1) * within
    return max(0.0, (between - within) / total) if total else 0.0
