"""Agreement of two people by Cohen's kappa (Educational and Psychological Measurement 20, 1960). Pure."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import sqrt
from statistics import NormalDist
from typing import Any

from assay.harness.domain import Model
from assay.harness.metrics.annotations import LEVELS, WRONG, Annotation, DivergenceVerdict, InstanceAnnotation
from assay.harness.statistics import CONFIDENCE, Interval

Scale = Callable[[Any], str | None]
"""The answer on a scale; None for no answer."""
INSTANCE_SCALES: Mapping[str, Scale] = {
    "clarity": lambda each: str(each.clarity),
    "tests": lambda each: str(each.tests),
    "other": lambda each: str(each.other),
    "sound": lambda each: str(each.is_sound),
    "difficulty": lambda each: each.difficulty,
    "level": lambda each: LEVELS[each.difficulty],
}
"""SWE-bench Verified's scales, and Multi-SWE-bench's level of difficulty."""
DIVERGENCE_SCALES: Mapping[str, Scale] = {
    "verdict": lambda each: each.verdict,
    "side": lambda each: None if each.verdict is None else _find_side(each.verdict),
    "pattern": lambda each: each.pattern,
}
"""``side``: wrong, right or undecidable."""


class Agreement(Model):
    """Two people's answers on one scale."""

    scale: str
    people: tuple[str, str]
    n: int
    """Number of instances or differences that both answered."""
    agreed: int
    kappa: Interval | None
    """None where it is not defined: nothing was answered by both, or everything alike with one answer."""


def compare_people(files: Mapping[str, Sequence[Annotation]]) -> Iterator[Agreement]:
    """Yield the agreement of each two people on each scale on which both answered something."""
    for one, other in combinations(files, 2):
        first, second = ({each.subject: each for each in files[name]} for name in (one, other))
        both = [(first[key], second[key]) for key in first if key in second]
        instances = [pair for pair in both if isinstance(pair[0], InstanceAnnotation)]
        divergences = [pair for pair in both if not isinstance(pair[0], InstanceAnnotation)]
        for scales, pairs in ((INSTANCE_SCALES, instances), (DIVERGENCE_SCALES, divergences)):
            for name, scale in scales.items():
                answers = [(scale(a), scale(b)) for a, b in pairs]
                known = [(a, b) for a, b in answers if a is not None and b is not None]
                if known:
                    agreed = sum(a == b for a, b in known)
                    yield Agreement(
                        scale=name, people=(one, other), n=len(known), agreed=agreed, kappa=measure_kappa(known)
                    )


def measure_kappa(pairs: Iterable[tuple[str, str]]) -> Interval | None:
    """Return kappa with its interval for large samples (Fleiss, Cohen and Everitt, Psychological Bulletin 72, 1969).

    None where chance alone would always agree, or without a pair.
    """
    counts = Counter(pairs)
    n = counts.total()
    if not n:
        return None
    cells = {pair: times / n for pair, times in counts.items()}
    one, other = defaultdict[str, float](float), defaultdict[str, float](float)
    for (a, b), share in cells.items():
        one[a] += share
        other[b] += share
    seen = sum(share for (a, b), share in cells.items() if a == b)
    chance = sum(share * other[name] for name, share in one.items())
    if chance > 1 - 1e-12:
        return None
    kappa = (seen - chance) / (1 - chance)
    alike = sum(s * (1 - (one[a] + other[a]) * (1 - kappa)) ** 2 for (a, b), s in cells.items() if a == b)
    apart = sum(s * (one[b] + other[a]) ** 2 for (a, b), s in cells.items() if a != b)
    spread = alike + (1 - kappa) ** 2 * apart - (kappa - chance * (1 - kappa)) ** 2
    half = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * sqrt(max(0.0, spread) / n) / (1 - chance)
    return Interval(estimate=kappa, low=max(-1.0, kappa - half), high=min(1.0, kappa + half))


def _find_side(verdict: DivergenceVerdict) -> str:
    return "wrong" if verdict in WRONG else verdict
