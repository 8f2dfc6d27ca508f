"""Choose one of several patches: votes of generated tests, finalists, the model's choice. Pure.

The order is that of CodeMonkeys (Ehrlich et al., arXiv 2501.14723): most votes first, then the shorter patch; identical
patches once; three finalists go to the selection machine, whose default is the first.
"""

import re
from collections import Counter
from collections.abc import Sequence

from pydantic import Field

from assay.agents.contract import Candidate
from assay.harness.domain import Model
from assay.harness.fences import unfence

FINALISTS = 3  # number of patches among which the selection machine chooses
SHOWS_BUG, SHOWS_FIX = 2, 0  # exit codes of a generated test: the bug is there, the bug is fixed

_TEST = re.compile(r"<test>(?:[ \t]*\n)?(.*?)</test>", re.DOTALL)
_CHOICE = re.compile(r"<chosen_candidate_fix_id>\s*(.*?)\s*</chosen_candidate_fix_id>", re.DOTALL)


class TestMatrix(Model):
    """Result of every generated test on every patch; CodeMonkeys' ``05_generated_test_execution``."""

    __test__ = False  # not a class of tests, whatever pytest thinks of the name

    tests: tuple[str, ...] = Field(default=(), repr=False)
    test_outputs_per_edit: tuple[tuple[int | None, ...], ...] = ()
    """Exit codes of the tests, patch by patch; None if a test was not run."""
    unedited: tuple[int | None, ...] = ()
    """The exit codes without a patch."""


def votes(outputs: Sequence[int | None]) -> int:
    return sum(status == SHOWS_FIX for status in outputs)


def identity(candidate: Candidate) -> str:
    """Return the key by which patches are equal: the normalised form if known, else the text."""
    return candidate.key or candidate.patch


def count_test_votes(candidates: Sequence[Candidate], matrix: TestMatrix) -> list[Candidate]:
    return [
        candidate.model_copy(update={"votes": count})
        for candidate, count in zip(candidates, map(votes, matrix.test_outputs_per_edit), strict=True)
    ]


def count_majority(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates, in order, each with the number of equal ones as votes; 0 for one without a change."""
    same = Counter(identity(each) for each in candidates if each.patch)
    return [each.model_copy(update={"votes": same[identity(each)] if each.patch else 0}) for each in candidates]


def rank_candidates(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates with a change: most votes first, then the shorter patch, then the earlier one."""
    return sorted((each for each in candidates if each.patch), key=lambda each: (-each.votes, len(each.patch)))


def distinct(candidates: Sequence[Candidate]) -> list[Candidate]:
    found: dict[str, Candidate] = {}
    for each in candidates:
        found.setdefault(identity(each), each)
    return list(found.values())


def finalists(candidates: Sequence[Candidate], most: int = FINALISTS) -> list[Candidate]:
    """Return up to ``most`` of the best candidates that differ."""
    return distinct(rank_candidates(candidates))[:most]


def find_best(name: str, candidates: Sequence[Candidate]) -> Candidate:
    """Return the candidate with the highest score of a name, of equal ones the better ranked; there is one."""
    return max(rank_candidates(candidates), key=lambda each: each.scores[name])


def read_test(text: str) -> str | None:
    """Return the last test script in an answer, without a fence around it; None if there is none."""
    found = _TEST.findall(text)
    return unfence(str(found[-1])).strip("\n") + "\n" if found else None


def read_choice(text: str) -> str | None:
    """Return the text of an answer's choice; None if there is none."""
    found = _CHOICE.search(text)
    return found[1] if found else None


def parse_choice(choice: str | None, count: int) -> int:
    """Return the chosen index below ``count``; 0 for an invalid choice."""
    text = choice or ""
    return int(text) if text.isascii() and text.isdigit() and int(text) < count else 0


def merge_rankings(rankings: Sequence[Sequence[str]]) -> list[str]:
    """Return names by their mean position in rankings, where a missing one is last; ties keep the first mention."""
    names = list(dict.fromkeys(name for ranking in rankings for name in ranking))
    places = [{name: place for place, name in reversed(list(enumerate(ranking)))} for ranking in rankings]
    return sorted(names, key=lambda name: sum(each.get(name, len(names)) for each in places))
