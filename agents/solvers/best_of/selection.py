"""Choosing one of several patches: the votes of generated tests, the finalists, and what a model chose. Pure.

The order is that of CodeMonkeys (Ehrlich et al., arXiv 2501.14723): most votes first, the shorter patch of equals;
identical patches once; three finalists go to the selection machine, and where its choice cannot be read, the first of
them is the answer.
"""

import re
from collections import Counter
from collections.abc import Sequence

from pydantic import Field

from assay.agents.contract import Candidate
from assay.agents.solvers.shared.fences import unfenced
from assay.harness.domain import Model

FINALISTS = 3
"""Patches among which the selection machine chooses."""
SHOWS_BUG, SHOWS_FIX = 2, 0
"""How a generated test ends on the issue's fault, and once that is mended."""

_TEST = re.compile(r"<test>(?:[ \t]*\n)?(.*?)</test>", re.DOTALL)
_CHOICE = re.compile(r"<chosen_candidate_fix_id>\s*(.*?)\s*</chosen_candidate_fix_id>", re.DOTALL)


class TestMatrix(Model):
    """How every generated test ended on every patch; CodeMonkeys' ``05_generated_test_execution``."""

    __test__ = False  # pytest takes whatever is called so for tests

    tests: tuple[str, ...] = Field(default=(), repr=False)
    test_outputs_per_edit: tuple[tuple[int | None, ...], ...] = ()
    """For each patch the exit status of each test; None for one that was not run."""
    unedited: tuple[int | None, ...] = ()
    """The same for no patch at all."""

    def votes(self) -> tuple[int, ...]:
        """Return how many tests say of each patch that it mends the fault."""
        return tuple(map(votes, self.test_outputs_per_edit))


def votes(outputs: Sequence[int | None]) -> int:
    """Return how many tests ended with status 0."""
    return sum(status == SHOWS_FIX for status in outputs)


def identity(candidate: Candidate) -> str:
    """Return what makes two patches one: the normalised form if it is known, else the text."""
    return candidate.key or candidate.patch


def with_test_votes(candidates: Sequence[Candidate], matrix: TestMatrix) -> list[Candidate]:
    """Return candidates, in their order, with the votes that generated tests give them."""
    return [
        candidate.model_copy(update={"votes": count})
        for candidate, count in zip(candidates, matrix.votes(), strict=True)
    ]


def with_majority_votes(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return candidates, in their order, each with the number of those that are the same as it; none for no change."""
    same = Counter(identity(each) for each in candidates if each.patch)
    return [each.model_copy(update={"votes": same[identity(each)] if each.patch else 0}) for each in candidates]


def ranked(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates that change something: most votes first, then the shorter patch, then the earlier one."""
    return sorted((each for each in candidates if each.patch), key=lambda each: (-each.votes, len(each.patch)))


def distinct(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the first of each group of identical candidates."""
    found: dict[str, Candidate] = {}
    for each in candidates:
        found.setdefault(identity(each), each)
    return list(found.values())


def finalists(candidates: Sequence[Candidate], most: int = FINALISTS) -> list[Candidate]:
    """Return the best few candidates that differ."""
    return distinct(ranked(candidates))[:most]


def best_by(name: str, candidates: Sequence[Candidate]) -> Candidate:
    """Return the candidate with the highest score of a name; of equals the one that ranks first.

    Raises:
        ValueError: there is no candidate with a change.
    """
    return max(ranked(candidates), key=lambda each: each.scores[name])


def read_test(text: str) -> str | None:
    """Return the test script in an answer, the last of several, without a fence around it; None if there is none."""
    found = _TEST.findall(text)
    return unfenced(str(found[-1])).strip("\n") + "\n" if found else None


def read_choice(text: str) -> str | None:
    """Return what an answer names as the chosen candidate, whatever it is; None if it names none."""
    found = _CHOICE.search(text)
    return found[1] if found else None


def chosen(choice: str | None, count: int) -> int:
    """Return the index of the chosen one of ``count`` candidates; 0 for whatever is no index of one."""
    text = choice or ""
    return int(text) if text.isascii() and text.isdigit() and int(text) < count else 0


def merged(rankings: Sequence[Sequence[str]]) -> list[str]:
    """Return names by their mean place in several rankings; a ranking that lacks one has it behind all others.

    Names with equal means keep the order in which they were first named.
    """
    names = list(dict.fromkeys(name for ranking in rankings for name in ranking))
    places = [{name: place for place, name in reversed(list(enumerate(ranking)))} for ranking in rankings]
    return sorted(names, key=lambda name: sum(each.get(name, len(names)) for each in places))
