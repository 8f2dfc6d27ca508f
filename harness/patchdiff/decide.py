"""Turn observations into findings. Pure; docs/patchdiff.md defines the findings and their order."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from assay.harness.domain import MISSING, SUSPICIOUS, Divergence, PatchDiffFinding, ProbeObservation, Status

REJECTIONS = frozenset({"TypeError", "AttributeError"})
"""By these, code says that an input is not of the kind that it is made for."""
_WORD = re.compile(r"\w+(?:\.\w+)*")
MIN_PROBES = 10
"""So many probes must have reached a target on both sides before their silence means anything."""
ORDER = tuple(PatchDiffFinding)


@dataclass(frozen=True, slots=True)
class Sighting:
    """One probe's observation on one side in one round."""

    observation: ProbeObservation
    target: str = ""
    """The target that it executed; empty if it reached none."""
    mutated: bool = False
    private: bool = False
    """Whether the function is private to the project; its result is then part of no public contract."""
    of: str = ""
    """The function that was called, or the test that was run."""


Round = Mapping[str, Sighting]
"""A program's observations on one side, by the probes' keys."""


@dataclass(frozen=True, slots=True)
class ProbeSplit:
    """The probes that executed a target with gold and with the candidate, by whether these two differ."""

    apart: tuple[str, ...]
    alike: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Screened:
    """The comparison of gold, its copy and the candidate over several rounds."""

    null_divergences: int
    suspects: tuple[str, ...]
    """Probes on which gold and the candidate differ."""


def stable(rounds: Sequence[Round]) -> dict[str, Sighting]:
    """Return the probes that saw the same in every round."""
    if not rounds:
        return {}
    first, *others = rounds
    return {
        key: seen
        for key, seen in first.items()
        if all(key in each and each[key].observation == seen.observation for each in others)
    }


def counted(gold: Round, candidate: Round) -> ProbeSplit:
    """Compare a round of gold's with one of the candidate's.

    A probe counts only if it executed a target on both sides; a probe that cannot be compared on one of the sides, for
    want of the function, does not count at all.
    """
    common = [key for key in gold if _comparable(gold, key) and _comparable(candidate, key)]
    reached = [key for key in common if gold[key].target and candidate[key].target]
    apart = [key for key in reached if gold[key].observation != candidate[key].observation]
    differing = set(apart)
    return ProbeSplit(tuple(apart), tuple(key for key in reached if key not in differing))


def screen(gold: Sequence[Round], null: Sequence[Round], candidate: Sequence[Round]) -> Screened:
    """Compare the sides over the probes that are stable on each; where gold's copy differs from gold is noise."""
    of_gold, of_null, of_candidate = sides = [stable(rounds) for rounds in (gold, null, candidate)]
    common = [key for key in of_gold if all(_comparable(side, key) for side in sides)]
    noise = {key for key in common if of_gold[key].observation != of_null[key].observation}
    steady = counted({key: of_gold[key] for key in common if key not in noise}, of_candidate)
    return Screened(len(noise), steady.apart)


def _comparable(side: Mapping[str, Sighting], key: str) -> bool:
    return key in side and not side[key].observation.is_missing


def classify(base: ProbeObservation, gold: Sighting, candidate: ProbeObservation) -> PatchDiffFinding | None:
    """Say what it means that a candidate and gold saw this; None if they agree."""
    of_gold = gold.observation
    if of_gold == candidate:
        return None
    if gold.mutated and _rejects(of_gold) != _rejects(candidate) and base != of_gold:
        return PatchDiffFinding.GOLD_REJECTS
    if gold.mutated and _rejects(of_gold):
        return PatchDiffFinding.GOLD_REJECTS  # whatever the candidate does with it: nobody promised anything
    if gold.private:
        return PatchDiffFinding.DIVERGENT
    if base == of_gold:
        return PatchDiffFinding.CHANGED_UNRELATED
    return PatchDiffFinding.UNFIXED_LIKE_BASE if candidate == base else _in_part(base, of_gold, candidate)


def divergence_of(
    generator: str,
    probe: str,
    base: ProbeObservation,
    gold: Sighting,
    candidate: ProbeObservation,
    confirmations: int,
) -> Divergence:
    """Return the divergence of a probe on which gold and the candidate differ."""
    finding = classify(base, gold, candidate)
    assert finding is not None
    return Divergence(
        finding=finding,
        generator=generator,
        probe=probe,
        target=gold.target,
        mutated=gold.mutated,
        base=base,
        gold=gold.observation,
        candidate=candidate,
        confirmed=confirmations,
    )


def of_test(status: Status | None) -> ProbeObservation:
    """Return what is seen of a whole test, None if it has not run."""
    return ProbeObservation(kind="value", type="test", text=status) if status else MISSING


def _in_part(base: ProbeObservation, gold: ProbeObservation, candidate: ProbeObservation) -> PatchDiffFinding:
    """Say what it means that three texts differ, by the words of base that gold keeps and takes out.

    A candidate that still has, where they were, words that gold takes out is like base in that part; one that does not
    have, in order, the words that gold keeps has changed what gold leaves alone.
    """
    if len({(each.kind, each.type) for each in (base, gold, candidate)}) > 1:
        return PatchDiffFinding.DIVERGENT
    before, after, other = (_WORD.findall(each.text) for each in (base, gold, candidate))
    kept, still_there = _kept(before, after), _kept(before, other)
    rest = iter(other)
    if not all(before[at] in rest for at in sorted(kept)):
        return PatchDiffFinding.CHANGED_UNRELATED
    return PatchDiffFinding.UNFIXED_LIKE_BASE if still_there - kept else PatchDiffFinding.DIVERGENT


def _kept(before: Sequence[str], after: Sequence[str]) -> set[int]:
    """Return the places of the words of a text that are left in another."""
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    return {at for block in blocks for at in range(block.a, block.a + block.size)}


def _rejects(seen: ProbeObservation) -> bool:
    return seen.kind == "error" and seen.type in REJECTIONS


def confirmed(key: str, gold: Sequence[Round], candidate: Sequence[Round], rounds: int) -> bool:
    """Return whether a probe came out the same in so many further rounds on each side, and differently on the two."""
    if min(len(gold), len(candidate)) < rounds:
        return False
    of_gold, of_candidate = stable(gold), stable(candidate)
    both = key in of_gold and key in of_candidate
    return both and of_gold[key].observation != of_candidate[key].observation


def finding_of(divergences: Sequence[Divergence], reached: int) -> PatchDiffFinding:
    """Return the finding of a whole comparison: its most severe divergence, or what the absence of any means."""
    if divergences:
        return min((each.finding for each in divergences), key=ORDER.index)
    return PatchDiffFinding.NO_DIFFERENCE_FOUND if reached >= MIN_PROBES else PatchDiffFinding.NOT_ASSESSED


def is_flagged(finding: PatchDiffFinding) -> bool:
    """Return whether a finding counts against a patch."""
    return finding is PatchDiffFinding.REGRESSION or finding in SUSPICIOUS
