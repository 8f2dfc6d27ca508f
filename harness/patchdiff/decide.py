"""Turn observations into findings. Pure; docs/patchdiff.md defines the findings and their order."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from assay.harness.domain import MISSING, SUSPICIOUS, Divergence, PatchDiffFinding, ProbeObservation, Status
from assay.harness.patchdiff.probe.operators import ASKED, FOREIGN
from assay.harness.patchdiff.probe.values import read_literal

REJECTIONS = frozenset({"TypeError", "AttributeError"})  # exceptions that mean "wrong argument type"
FAILURE = "failure"
"""Kind of a failed test's observation: its message, with expected values beside actual ones."""
_WORD = re.compile(r"\w+(?:\.\w+)*")
MIN_PROBES = 10  # fewer probes that reached a target on both sides mean nothing by their silence
ORDER = tuple(PatchDiffFinding)


@dataclass(frozen=True, slots=True)
class Sighting:
    """One probe's observation on one side in one round."""

    observation: ProbeObservation
    target: str = ""
    """The target that it executed; "" if none."""
    mutated: bool = False
    private: bool = False
    """The function is private to the project, so its result is part of no public contract."""
    of: str = ""
    """The function called, or the test run."""
    changes: Sequence[Sequence[Any]] = ()
    """Changes of the input; each ends with its old and its new text."""
    promised: bool = False
    """The observation is an exception that a test or the documentation asks for."""
    operator: str = ""
    """What made a call that no test makes."""


Round = Mapping[str, Sighting]  # a program's observations on one side, by the probes' keys


def find_stable(rounds: Sequence[Round]) -> dict[str, Sighting]:
    """Return the probes with the same observation in every round."""
    if not rounds:
        return {}
    first, *others = rounds
    return {
        key: seen
        for key, seen in first.items()
        if all(key in each and each[key].observation == seen.observation for each in others)
    }


def split(gold: Round, candidate: Round) -> tuple[list[str], list[str]]:
    """Return the probes on which one round of gold and one of the candidate differ, and those on which they agree.

    A probe counts only if it executed a target on both sides, and not if a side lacks the function.
    """
    apart: list[str] = []
    alike: list[str] = []
    for key, seen in gold.items():
        if _comparable(gold, key) and _comparable(candidate, key) and seen.target and candidate[key].target:
            (alike if seen.observation == candidate[key].observation else apart).append(key)
    return apart, alike


def screen(gold: Sequence[Round], null: Sequence[Round], candidate: Sequence[Round]) -> tuple[int, list[str]]:
    """Compare the sides over several rounds, by the probes that are stable on each.

    Returns:
        The number of probes on which gold's copy differs from gold (noise), and the other probes on which gold and the
        candidate differ.
    """
    of_gold, of_null, of_candidate = sides = [find_stable(rounds) for rounds in (gold, null, candidate)]
    common = [key for key in of_gold if all(_comparable(side, key) for side in sides)]
    steady = {key: of_gold[key] for key in common if of_gold[key].observation == of_null[key].observation}
    return len(common) - len(steady), split(steady, of_candidate)[0]


def _comparable(side: Mapping[str, Sighting], key: str) -> bool:
    return key in side and not side[key].observation.is_missing


def classify(base: ProbeObservation, gold: Sighting, candidate: ProbeObservation) -> PatchDiffFinding | None:
    """Return the finding for one probe; None if gold and the candidate agree."""
    of_gold = gold.observation
    if of_gold == candidate:
        return None
    is_error = base == of_gold and of_gold.kind == "error" and candidate.kind == "value"
    if gold.mutated and is_error and not gold.promised:
        return PatchDiffFinding.MORE_TOLERANT
    is_asked = gold.operator in ASKED and base == candidate
    is_promised = is_asked or (base == of_gold and gold.operator not in FOREIGN and not _changes_type(gold.changes))
    if gold.mutated and (_rejects(of_gold) or (_rejects(candidate) and not is_promised)):
        return PatchDiffFinding.GOLD_REJECTS
    if gold.private:
        return PatchDiffFinding.DIVERGENT
    if base == of_gold:
        return PatchDiffFinding.CHANGED_UNRELATED
    return PatchDiffFinding.UNFIXED_LIKE_BASE if candidate == base else _classify_parts(base, of_gold, candidate)


def make_divergence(
    generator: str, probe: str, base: ProbeObservation, gold: Sighting, candidate: ProbeObservation, rounds: int
) -> Divergence:
    finding = classify(base, gold, candidate)
    assert finding is not None
    return Divergence(
        finding=finding,
        generator=generator,
        probe=probe,
        target=gold.target,
        mutated=gold.mutated,
        operator=gold.operator,
        base=base,
        gold=gold.observation,
        candidate=candidate,
        confirmed=rounds,
    )


def observe_test(status: Status | None) -> ProbeObservation:
    return ProbeObservation(kind="value", type="test", text=status) if status else MISSING


def _classify_parts(base: ProbeObservation, gold: ProbeObservation, candidate: ProbeObservation) -> PatchDiffFinding:
    """Classify three different observations: by who raises, by their types, else by the words that gold keeps of base.

    A candidate that still has, in their place, words that gold removes is like base in that part. A candidate without
    words that gold keeps, or with these in another order, has changed what gold leaves alone.
    """
    kinds, types = ([getattr(each, name) for each in (base, gold, candidate)] for name in ("kind", "type"))
    for before, after, other in (kinds, types) if {"value", "error"}.issuperset(kinds) else ():
        if (before == after) != (before == other):
            return PatchDiffFinding.CHANGED_UNRELATED if before == after else PatchDiffFinding.UNFIXED_LIKE_BASE
    if gold.kind == FAILURE or len({*zip(kinds, types, strict=True)}) > 1:
        return PatchDiffFinding.DIVERGENT
    words, of_gold, of_candidate = map(_WORD.findall, _drop_common_lines([base.text, gold.text, candidate.text]))
    kept, still_there = _match_words(words, of_gold), _match_words(words, of_candidate)
    rest = iter(of_candidate)
    if not all(words[at] in rest for at in sorted(kept)):
        return PatchDiffFinding.CHANGED_UNRELATED
    return PatchDiffFinding.UNFIXED_LIKE_BASE if still_there - kept else PatchDiffFinding.DIVERGENT


def _drop_common_lines(texts: Sequence[str]) -> list[str]:
    lines = [text.splitlines() for text in texts]
    common = frozenset(lines[0]).intersection(*lines[1:])
    return ["\n".join(line for line in each if line not in common) for each in lines]


def _match_words(before: Sequence[str], after: Sequence[str]) -> set[int]:
    """Return the indexes of the words of ``before`` that ``after`` keeps."""
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    return {at for block in blocks for at in range(block.a, block.a + block.size)}


def _rejects(seen: ProbeObservation) -> bool:
    return seen.kind == "error" and seen.type in REJECTIONS


def _changes_type(changes: Sequence[Sequence[Any]]) -> bool:
    """Return whether a change replaces a value of a known type by one of a new type other than None.

    Another kind of iterable with the same items does not count: code may well be given that.
    """
    for *_, old, new in changes:
        before, after = (read_literal(f"[{text}]") for text in (old, new))
        is_new = old not in new if after is None else not _kinds(after) <= _kinds(before)
        if before and None not in before and is_new:
            return True
    return False


def _kinds(value: Any, depth: int = 0) -> set[tuple[int, type]]:
    """Return the types in plain data, except that of None, with their depth."""
    inner = [*value, *value.values()] if isinstance(value, dict) else value
    below = inner if isinstance(inner, list | tuple | set) else ()
    return {(depth, type(value)), *(kind for each in below for kind in _kinds(each, depth + 1))} - {(depth, type(None))}


def soften_lone(divergences: Sequence[Divergence]) -> list[Divergence]:
    """Make a lone divergence on a changed input undecided: of thousands of inputs, one may be beside the point."""
    alone = len(divergences) == 1 and divergences[0].mutated and is_flagged(divergences[0].finding)
    found = {"finding": PatchDiffFinding.DIVERGENT} if alone else {}
    return [each.model_copy(update=found) for each in divergences]


def conclude(divergences: Sequence[Divergence], reached: int) -> PatchDiffFinding:
    """Return the finding of a whole comparison: its most severe divergence, or the meaning of none."""
    if divergences:
        return min((each.finding for each in divergences), key=ORDER.index)
    return PatchDiffFinding.NO_DIFFERENCE_FOUND if reached >= MIN_PROBES else PatchDiffFinding.NOT_ASSESSED


def is_flagged(finding: PatchDiffFinding) -> bool:
    """Return whether a finding counts against a patch."""
    return finding is PatchDiffFinding.REGRESSION or finding in SUSPICIOUS
