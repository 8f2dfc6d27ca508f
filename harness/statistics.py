"""Statistics of rates over instances: estimates over several samples, intervals, tests of two and of many runs.

In plain Python; the tests compare each figure with scipy's.
"""

from collections.abc import Callable, Mapping, Sequence
from math import ceil, comb, exp, fsum, lgamma, log, log1p, sqrt
from random import Random
from statistics import NormalDist

from assay.harness.domain import Model

SAMPLES = 10_000
CONFIDENCE = 0.95

Row = tuple[float, ...]


class Interval(Model):
    estimate: float
    low: float
    high: float


def pass_at_k(n: int, c: int, k: int) -> float:
    """Return the probability that at least one of k of n samples is right, if c are (arXiv 2107.03374)."""
    _check_samples(n, c, k)
    return 1 - comb(n - c, k) / comb(n, k)


def pass_all_k(n: int, c: int, k: int) -> float:
    """Return the probability that all of k of n samples are right, pass^k, if c are (arXiv 2406.12045)."""
    _check_samples(n, c, k)
    return comb(c, k) / comb(n, k)


def _check_samples(n: int, c: int, k: int) -> None:
    if not (0 <= c <= n and 1 <= k <= n):
        raise ValueError(f"{c} right ones of {n} samples, and {k} of them taken: must be 0 <= c <= n and 1 <= k <= n")


def wilson(successes: int, n: int, confidence: float = CONFIDENCE) -> Interval:
    """Return a rate with Wilson's score interval (Journal of the American Statistical Association 22, 1927).

    Without a trial the rate is 0 and its interval [0, 1].
    """
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} of {n} is no rate")
    if n == 0:
        return Interval(estimate=0.0, low=0.0, high=1.0)
    z, p = NormalDist().inv_cdf((1 + confidence) / 2), successes / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    low = 0.0 if successes == 0 else centre - half  # rounding must not move the interval at the ends
    high = 1.0 if successes == n else centre + half
    return Interval(estimate=p, low=low, high=high)


def clopper_pearson(successes: int, n: int, confidence: float = CONFIDENCE) -> Interval:
    """Return a rate with its exact interval (Clopper and Pearson, Biometrika 26, 1934).

    Without a trial the rate is 0 and its interval [0, 1].
    """
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} of {n} is no rate")
    tail = (1 - confidence) / 2
    low = 0.0 if successes == 0 else _solve_rate(lambda p: 1 - _sum_chances(successes - 1, n, p) < tail)
    high = 1.0 if successes == n else _solve_rate(lambda p: _sum_chances(successes, n, p) > tail)
    return Interval(estimate=successes / n if n else 0.0, low=low, high=high)


def _sum_chances(successes: int, n: int, p: float) -> float:
    """Return the probability of at most that number of successes in n trials."""
    ways = lgamma(n + 1)
    logs = (ways - lgamma(i + 1) - lgamma(n - i + 1) + i * log(p) + (n - i) * log1p(-p) for i in range(successes + 1))
    return fsum(map(exp, logs))


def _solve_rate(is_below: Callable[[float], bool]) -> float:
    """Return the rate up to which something holds, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return (low + high) / 2


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the two-sided p-value of McNemar's exact test: the binomial test of the discordant pairs at one half."""
    n, few = only_first + only_second, min(only_first, only_second)
    chance = ways = 1  # of i discordant pairs for the one side: n over i, each from the one before
    for i in range(few):
        ways = ways * (n - i) // (i + 1)
        chance += ways
    return min(1.0, 2 * chance / (1 << n))


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return p-values adjusted by Holm's method (Scandinavian Journal of Statistics 6, 1979), in their order."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, p_values[index] * (len(p_values) - rank)))
        adjusted[index] = highest
    return tuple(adjusted)


def bootstrap_clusters(
    rows: Mapping[str, Sequence[Row]],
    statistic: Callable[[Row], float],
    *,
    samples: int = SAMPLES,
    seed: int = 0,
    confidence: float = CONFIDENCE,
) -> Interval:
    """Return a statistic of sums with the percentile interval of a bootstrap that draws whole clusters.

    Instances of one repository have similar results, so they are drawn together. Figures that belong together, such as
    the results of two runs for one instance, share a row. With a single cluster, its rows are drawn instead.

    Args:
        rows: figures of each instance, by cluster; all rows of one length, and at least one of them.
        statistic: function of the column sums; the last sum is the number of rows.
        seed: of the resampling; equal seeds give equal intervals.
        confidence: level of the interval, such as 0.95.
    """
    totals = [_sums([(*row, 1.0) for row in cluster]) for cluster in rows.values() if cluster]
    if len(totals) == 1:
        totals = [(*row, 1.0) for cluster in rows.values() for row in cluster]
    if not totals:
        raise ValueError("there is no row to draw from")
    draw = Random(seed).choices
    found = sorted(statistic(_sums(draw(totals, k=len(totals)))) for _ in range(samples))
    tail = (1 - confidence) / 2
    low, high = found[int(tail * (samples - 1))], found[ceil((1 - tail) * (samples - 1))]
    return Interval(estimate=statistic(_sums(totals)), low=low, high=high)


def _sums(rows: Sequence[Row]) -> Row:
    return tuple(map(sum, zip(*rows, strict=True)))


def cost_per_resolved(cost: float, resolved: int) -> float | None:
    """Return the cost per resolved issue, failed attempts included; None if none was resolved."""
    return cost / resolved if resolved else None
