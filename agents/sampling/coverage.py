"""What a solver chose beside what it chose from: coverage, and the score of each source of candidates."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from assay.agents.contract import Solution
from assay.harness.domain import Model

Judged = Mapping[tuple[str, str], bool | None]
"""Whether a patch resolves its instance, by instance id and patch; None if infrastructure failed."""


class SourceScore(Model):
    source: str
    """Such as a member of an ensemble, or ``sample 3``."""
    tried: int
    """Solutions for which it gave a patch that has a verdict."""
    resolved: int


class CandidateCoverage(Model):
    solutions: int
    """Solutions that had a candidate, as all the figures below."""
    chosen: int
    """Resolved by the solver's choice."""
    covered: int
    """Resolved by at least one candidate: what a perfect selection would reach."""
    random: float
    """Expected to be resolved by a choice at random among the candidates with a patch."""
    unknown: int
    """Candidates without a verdict, because infrastructure failed."""
    sources: tuple[SourceScore, ...]
    """The best first."""


def list_rounds(solutions: Sequence[Solution]) -> Iterator[dict[str, str]]:
    """Yield dictionaries of instance id to patch, which have each distinct patch of the candidates once."""
    patches: dict[str, dict[str, None]] = defaultdict(dict)
    for each in solutions:
        wanted = (each.patch, *(candidate.patch for candidate in each.candidates)) if each.candidates else ()
        patches[each.instance_id].update(dict.fromkeys(patch for patch in wanted if patch.strip()))
    waiting = {name: list(found) for name, found in patches.items() if found}
    while waiting:
        yield {name: found.pop(0) for name, found in waiting.items()}
        waiting = {name: found for name, found in waiting.items() if found}


def measure_coverage(solutions: Sequence[Solution], judged: Judged) -> CandidateCoverage:
    chosen = covered = unknown = 0
    random = 0.0
    sources: dict[str, list[bool]] = defaultdict(list)
    solved = [each for each in solutions if each.candidates]
    for each in solved:
        verdicts = []
        for candidate in each.candidates:
            verdict = judged.get((each.instance_id, candidate.patch))
            unknown += bool(candidate.patch.strip()) and verdict is None
            if verdict is not None:
                verdicts.append(verdict)
                sources[candidate.source].append(verdict)
        mine = judged.get((each.instance_id, each.patch)) is True
        chosen += mine
        covered += mine or any(verdicts)
        random += sum(verdicts) / len(verdicts) if verdicts else 0.0
    scores = [SourceScore(source=name, tried=len(found), resolved=sum(found)) for name, found in sources.items()]
    return CandidateCoverage(
        solutions=len(solved),
        chosen=chosen,
        covered=covered,
        random=random,
        unknown=unknown,
        sources=tuple(sorted(scores, key=lambda each: -each.resolved)),
    )
