"""Spectrum-based fault localisation: code that failing tests execute and passing ones do not is suspect. Pure.

Formulas: Abreu et al. 2007 (Ochiai), Jones and Harrold 2005 (Tarantula), Naish et al. 2011 (Op2), Abreu
et al. 2009 (Barinel, for a single fault) and Wong et al. 2014 (D*, with an exponent of 2). AutoCodeRover (arXiv
2404.05427) ranks lines by Ochiai, merges them and shows the model the first few methods.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from assay.harness.languages.syntax import Definition, innermost

STAR = 2  # exponent of D*
TOP = 5  # maximum number of suspect methods


@dataclass(frozen=True, slots=True)
class TracedTest:
    """A test with its result and the lines that it executed: path to line numbers, counted from 1."""

    name: str
    failed: bool
    lines: Mapping[str, frozenset[int]]


@dataclass(frozen=True, slots=True)
class LineCounts:
    """Numbers of tests that execute a line."""

    failed: int
    passed: int
    all_failed: int
    all_passed: int


Formula = Callable[[LineCounts], float]


@dataclass(frozen=True, slots=True)
class SuspectRange:
    """Lines ``first`` to ``last`` of a file, both included, and their suspiciousness."""

    path: str
    first: int
    last: int
    score: float
    name: str = ""
    """Qualified name of the method; empty if the range is not a method."""


def ochiai(counts: LineCounts) -> float:
    """Return failed / sqrt(all_failed * (failed + passed)): the cosine between the line and the failures."""
    return _ratio(counts.failed, math.sqrt(counts.all_failed * (counts.failed + counts.passed)))


def tarantula(counts: LineCounts) -> float:
    """Return the share of the failing tests, over that share and the share of the passing tests."""
    failing = _ratio(counts.failed, counts.all_failed)
    return _ratio(failing, failing + _ratio(counts.passed, counts.all_passed))


def op2(counts: LineCounts) -> float:
    """Return failed - passed / (all_passed + 1): any more failing tests outweigh all passing ones."""
    return counts.failed - counts.passed / (counts.all_passed + 1)


def barinel(counts: LineCounts) -> float:
    """Return 1 - passed / (passed + failed): the likeliest probability with which the line fails."""
    return _ratio(counts.failed, counts.passed + counts.failed)


def dstar(counts: LineCounts) -> float:
    """Return failed ** 2 / (passed + failing tests elsewhere); infinite where exactly the failing tests run."""
    elsewhere = counts.passed + counts.all_failed - counts.failed
    if counts.failed and not elsewhere:
        return math.inf
    return _ratio(counts.failed**STAR, elsewhere)


FORMULAS: Mapping[str, Formula] = {each.__name__: each for each in (ochiai, tarantula, op2, barinel, dstar)}


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def score_lines(runs: Sequence[TracedTest], formula: Formula = ochiai) -> dict[tuple[str, int], float]:
    """Return path and line number to score of every line that a failing test executes."""
    failing = Counter(line for run in runs if run.failed for line in _lines(run))
    passing = Counter(line for run in runs if not run.failed for line in _lines(run))
    all_failed = sum(run.failed for run in runs)
    all_passed = len(runs) - all_failed
    return {line: formula(LineCounts(often, passing[line], all_failed, all_passed)) for line, often in failing.items()}


def _lines(run: TracedTest) -> Iterable[tuple[str, int]]:
    return ((path, number) for path, numbers in run.lines.items() for number in numbers)


def merge_lines(scores: Mapping[tuple[str, int], float]) -> list[SuspectRange]:
    """Merge adjacent lines of equal score into ranges; most suspect first, ties in order of path and line."""
    numbered = enumerate(sorted(scores))
    runs = groupby(numbered, key=lambda each: (each[1][0], each[1][1] - each[0], scores[each[1]]))
    merged = []
    for (path, _, score), grouped in runs:
        lines = [line for _, (_, line) in grouped]
        merged.append(SuspectRange(path, lines[0], lines[-1], score))
    return _rank(merged)


def rank_methods(
    ranges: Sequence[SuspectRange], definitions: Callable[[str], Sequence[Definition]], top: int = TOP
) -> list[SuspectRange]:
    """Return the methods that contain suspect lines, with the score of their worst line, most suspect first.

    Lines outside of all functions are ignored. ``definitions`` returns those of a file.
    """
    found: dict[tuple[str, Definition], float] = {}
    for each in ranges:
        functions = [one for one in definitions(each.path) if one.kind == "function"]
        for line in range(each.first, each.last + 1):
            method = innermost(functions, line)
            if method is not None:
                key = (each.path, method)
                found[key] = max(found.get(key, -math.inf), each.score)
    methods = [SuspectRange(path, one.first, one.last, score, one.name) for (path, one), score in found.items()]
    return _rank(methods)[:top]


def _rank(suspects: Iterable[SuspectRange]) -> list[SuspectRange]:
    return sorted(suspects, key=lambda each: (-each.score, each.path, each.first))
