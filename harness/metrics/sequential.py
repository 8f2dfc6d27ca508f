"""Whether some runs of each system are enough to distinguish them, and how many more it takes: AdaStop's test. Pure.

After Mathieu and others (arXiv 2306.10882): permutation tests at a few looks, step-down over the pairs of systems.
``alpha`` bounds the chance that any two equal systems are called different at any look.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import ceil, fsum
from random import Random
from statistics import NormalDist, fmean, variance

from assay.harness.domain import Model
from assay.harness.errors import UserError

Pair = tuple[str, str]
POWER = 0.8  # chance that a difference is found, in the estimate of the runs that it takes
PATHS = 10_000  # random permutations


class PairDecision(Model):
    """The decision on two systems so far."""

    first: str
    second: str
    decision: str
    """The first is ``larger`` or ``smaller``; ``equal``: not distinguished by the last look; or ``undecided``."""
    look: int
    """The look that decided; 0 for none."""
    difference: float
    """Mean score of the first minus that of the second, over the runs that were looked at."""
    runs_needed: int | None
    """Runs of each, in all, that distinguish such means and variances with a chance of 80 % in a test with one look, by
    the normal approximation; None where the means are equal or a system has fewer than two runs."""


class RunPlan(Model):
    """The decisions so far, and the runs that are still to be made of undecided systems."""

    looked: int
    runs: dict[str, int]
    """Runs of each system that were looked at; a decided one is looked at no more."""
    pairs: tuple[PairDecision, ...]
    next_runs: dict[str, int]
    """Further runs that the next look needs."""
    most_runs: dict[str, int]
    """Further runs until the last look."""


@dataclass
class _Looks:
    """The test between two looks: of each undecided pair the sum of differences, permuted on every path."""

    group: int
    paths: int
    draw: Random
    undecided: list[Pair]
    sums: dict[Pair, list[float]] = field(default_factory=dict)
    """Only paths that no look has rejected; those of all pairs go together."""
    seen: dict[Pair, float] = field(default_factory=dict)
    decided: dict[Pair, tuple[str, int]] = field(default_factory=dict)

    def look(self, number: int, level: float, scores: Mapping[str, Sequence[float]]) -> None:
        """Take one group of scores of each undecided system; decide with this chance of an error up to this look."""
        for pair in self.undecided:
            both = [*scores[pair[0]], *scores[pair[1]]]
            before = self.sums.get(pair, [0.0] * self.paths)
            spent = self.paths - len(before)  # paths that earlier looks rejected
            self.seen[pair] = self.seen.get(pair, 0.0) + self._subtract(both)
            self.sums[pair] = [known + self._subtract(self.draw.sample(both, len(both))) for known in before]
        # the order that was seen is a path, too, and counts among those as wide
        allowed = int(level * self.paths + 1e-9) - spent - 1
        while self.undecided:
            paths = [max(map(abs, path)) for path in zip(*map(self.sums.__getitem__, self.undecided), strict=True)]
            bound = sorted(paths)[-1 - allowed] if 0 <= allowed < len(paths) else float("inf")
            widest = max(self.undecided, key=lambda pair: abs(self.seen[pair]))
            if abs(self.seen[widest]) <= bound:
                break
            self.decided[widest] = ("larger" if self.seen[widest] > 0 else "smaller", number)
            self.undecided.remove(widest)
        for pair in self.undecided:
            self.sums[pair] = [each for each, width in zip(self.sums[pair], paths, strict=True) if width <= bound]

    def _subtract(self, both: Sequence[float]) -> float:
        return fsum(both[: self.group]) - fsum(both[self.group :])  # exact sums: equal ones compare as equal


def plan_runs(
    scores: Mapping[str, Sequence[float]],
    *,
    group: int = 5,
    looks: int = 5,
    alpha: float = 0.05,
    paths: int = PATHS,
    seed: int = 0,
) -> RunPlan:
    """Look at the scores of runs, in the order in which they were made, as far as there are whole groups.

    ``group`` and ``looks`` are fixed before the first run. Raises UserError for fewer than two systems.
    """
    if len(scores) < 2:
        raise UserError(f"two or more systems are compared, not {', '.join(scores) or 'none'}; add another's runs")
    state, looked = _Looks(group, paths, Random(seed), [*combinations(scores, 2)]), 0
    active, runs = [*scores], dict.fromkeys(scores, 0)
    while active and looked < looks and all(len(scores[name]) >= (looked + 1) * group for name in active):
        new = {name: scores[name][looked * group : (looked + 1) * group] for name in active}
        looked += 1
        runs |= dict.fromkeys(active, looked * group)
        state.look(looked, alpha * looked / looks, new)
        active = [name for name in scores if any(name in pair for pair in state.undecided)] if looked < looks else []
    undecided = "equal" if looked == looks else "undecided"
    pairs = [*combinations(scores, 2)]
    width = NormalDist().inv_cdf(1 - alpha / len(pairs) / 2) + NormalDist().inv_cdf(POWER)
    used = {name: list(each)[: runs[name] or None] for name, each in scores.items()}
    return RunPlan(
        looked=looked,
        runs=runs,
        pairs=tuple(
            PairDecision(
                first=first,
                second=second,
                decision=state.decided.get((first, second), (undecided, 0))[0],
                look=state.decided.get((first, second), (undecided, 0))[1],
                difference=fmean(used[first]) - fmean(used[second]),
                runs_needed=_estimate_runs(used[first], used[second], width),
            )
            for first, second in pairs
        ),
        next_runs={name: max(0, (looked + 1) * group - len(scores[name])) for name in active},
        most_runs={name: max(0, looks * group - len(scores[name])) for name in active},
    )


def _estimate_runs(first: Sequence[float], second: Sequence[float], width: float) -> int | None:
    difference = fmean(first) - fmean(second)
    if not difference or min(len(first), len(second)) < 2:
        return None
    return max(2, ceil((variance(first) + variance(second)) * (width / difference) ** 2))
