"""Answers of people: how clear an instance is, what its tests are worth, and who is right where a patch differs.

The scales of instances are those of SWE-bench Verified (grades 0 to 3, with 0 and 1 acceptable, and four lengths
of a fix) and of Multi-SWE-bench (the same grades, and three levels of difficulty).
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from statistics import median_high
from typing import Annotated, Literal, TypeVar

from pydantic import AwareDatetime, Field

from assay.harness.domain import InstanceId, Model

ACCEPTABLE = 1  # the worst grade with which SWE-bench Verified keeps an instance
LONGEST_NOTE = 1000

Grade = Annotated[int, Field(ge=0, le=3)]
People = Annotated[tuple[str, ...], Field(min_length=1)]
Note = Annotated[str, Field(max_length=10 * LONGEST_NOTE)]


class Difficulty(StrEnum):
    """Time that a fix takes somebody who knows the code, in the words of SWE-bench Verified's column."""

    MINUTES = "<15 min fix"
    HOUR = "15 min - 1 hour"
    HOURS = "1-4 hours"
    LONGER = ">4 hours"


LEVELS: Mapping[str, str] = {
    Difficulty.MINUTES: "easy",
    Difficulty.HOUR: "medium",
    Difficulty.HOURS: "hard",
    Difficulty.LONGER: "hard",
}
"""Multi-SWE-bench's level for each difficulty of SWE-bench Verified."""


class DivergenceVerdict(StrEnum):
    """Who is right where a patch differs from gold, the worst first."""

    REGRESSION = "regression"
    """Wrong: it breaks what worked before."""
    PARTIAL = "partial"
    """Wrong: it fixes the issue only in part, or otherwise than asked."""
    UNRELATED = "unrelated"
    """Wrong: it changes what the issue does not ask to change."""
    RIGHT = "right"
    """Right: gold does more than the issue asks, or the input is none that counts."""
    UNDECIDABLE = "undecidable"
    """Issue, documents and code do not say who is right."""


WRONG = frozenset({DivergenceVerdict.REGRESSION, DivergenceVerdict.PARTIAL, DivergenceVerdict.UNRELATED})


class DivergencePattern(StrEnum):
    """How the two patches come to differ, after PatchDiff's paper (arXiv 2503.15223)."""

    DIVERGENT = "divergent"
    """Both change the same behaviour in different ways."""
    SUPPLEMENTARY = "supplementary"
    """The patch changes more than gold."""
    ABSENT = "absent"
    """Gold changes what the patch leaves as it was."""
    UNALIGNED = "unaligned"
    """The two changes have nothing in common."""


class InstanceAnnotation(Model):
    """Grades of an instance by a person, or by several after a merge."""

    kind: Literal["instance"] = "instance"
    instance_id: InstanceId
    by: People
    at: AwareDatetime | None = None
    clarity: Grade
    """0: the issue states all of it; 1: the rest can be guessed; 2: there are several readings; 3: nobody knows."""
    tests: Grade
    """0: every right fix passes; 1: nearly every; 2: some reasonable fixes fail; 3: the tests ask for another thing."""
    other: bool = False
    """Another fault for which the instance should not count."""
    difficulty: Difficulty
    note: Note = ""

    @property
    def subject(self) -> tuple[str, ...]:
        return (self.instance_id,)

    @property
    def is_sound(self) -> bool:
        """Whether SWE-bench Verified would keep the instance."""
        return self.clarity <= ACCEPTABLE and self.tests <= ACCEPTABLE and not self.other


class DivergenceAnnotation(Model):
    """A verdict on one difference between a patch and gold by a person, or by several after a merge."""

    kind: Literal["divergence"] = "divergence"
    instance_id: InstanceId
    patch: str
    """``identify_patch`` of the patch that differs."""
    generator: str
    probe: str
    """Key of the probe that shows the difference, as the comparison names it."""
    by: People
    at: AwareDatetime | None = None
    verdict: DivergenceVerdict | None
    """None after a merge in which no majority has one."""
    pattern: DivergencePattern | None = None
    note: Note = ""

    @property
    def subject(self) -> tuple[str, ...]:
        return (self.instance_id, self.patch, self.generator, self.probe)


AnswerT = TypeVar("AnswerT")
Annotation = InstanceAnnotation | DivergenceAnnotation


def identify_patch(patch: str) -> str:
    """Return a short hash of a patch, whatever white space is around it."""
    return hashlib.sha256(patch.strip().encode(errors="surrogatepass")).hexdigest()[:16]


def merge_people(files: Iterable[Iterable[Annotation]]) -> list[Annotation]:
    """Join several people's answers, in the order of their first subjects.

    As in SWE-bench Verified, the worst grade counts, and of difficulties the majority or else the median. Of a
    difference, what more than half say counts; if more than half say wrong for several reasons, the worst of the most
    frequent ones.
    """
    found: dict[tuple[str, ...], list[Annotation]] = {}
    for file in files:
        for each in file:
            found.setdefault(each.subject, []).append(each)
    return [_merge(each) for each in found.values()]


def _merge(given: Sequence[Annotation]) -> Annotation:
    by = tuple(name for each in given for name in each.by)
    note = " / ".join(f"{', '.join(each.by)}: {each.note}" for each in given if each.note)
    first = given[0]
    if isinstance(first, DivergenceAnnotation):
        differences = [each for each in given if isinstance(each, DivergenceAnnotation)]
        verdict = _choose_verdict([each.verdict for each in differences])
        pattern = find_majority([each.pattern for each in differences])
        return first.model_copy(update={"by": by, "at": None, "note": note, "verdict": verdict, "pattern": pattern})
    instances = [each for each in given if isinstance(each, InstanceAnnotation)]
    difficulties = [each.difficulty for each in instances]
    order = list(Difficulty)
    merged = {
        "clarity": max(each.clarity for each in instances),
        "tests": max(each.tests for each in instances),
        "other": any(each.other for each in instances),
        "difficulty": find_majority(difficulties) or order[median_high(map(order.index, difficulties))],
    }
    return first.model_copy(update={"by": by, "at": None, "note": note, **merged})


def find_majority(given: Sequence[AnswerT]) -> AnswerT | None:
    """Return the answer that more than half gave; None if there is none."""
    answer, times = Counter(given).most_common(1)[0]
    return answer if 2 * times > len(given) else None


def _choose_verdict(given: Sequence[DivergenceVerdict | None]) -> DivergenceVerdict | None:
    wrong = [each for each in DivergenceVerdict if each in WRONG and each in given]
    if 2 * sum(each in WRONG for each in given) > len(given):
        return max(wrong, key=given.count)  # of equally frequent ones the first, which is the worst
    return find_majority(given)
