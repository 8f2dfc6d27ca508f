"""The conversation in which a language model writes tests that pass with one patch and fail with the other. Pure.

The protocol is that of PatchDiff (arXiv 2503.15223): the model sees the issue, both patches, the code around them, the
functions to go through and some calls of them, and writes tests whose outcome should differ. A file that does not pass
on the reference, or does not distinguish the patches, goes back with its output, twice at most. Whether a difference
holds (repetitions, a target reached on both sides) is decided elsewhere, as for every generator.

Asking and running are handed in: ``converse`` needs a model as a function, and a function that runs a test file on both
sides.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from assay.harness.domain import Status
from assay.harness.patchdiff.generators.llm.answers import find_test_file
from assay.harness.patchdiff.generators.llm.prompts import (
    LONGEST_OUTPUT,
    PromptMaterial,
    PromptMessage,
    fenced,
    first_messages,
    shortened,
)

MOST_REPAIRS = 2
"""As in the paper."""
Chat = Callable[[Sequence[PromptMessage]], str]
"""Gives messages to a model and returns the text of its answer."""


@dataclass(frozen=True, slots=True)
class BothSides:
    """The statuses of a test file's tests on both sides."""

    gold: Mapping[str, Status]
    candidate: Mapping[str, Status]
    gold_output: str = ""
    candidate_output: str = ""


Try = Callable[[str], BothSides]
"""Runs a test file's text on both sides."""


class Decision(StrEnum):
    """The next step for a test file."""

    ACCEPT = "accept"
    REPAIR = "repair"
    GIVE_UP = "give_up"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A decision and its grounds."""

    decision: Decision
    differing: tuple[str, ...] = ()
    """Tests that pass with gold and fail with the candidate."""
    complaint: str = ""
    """The message to the model; empty unless it shall repair."""


@dataclass(frozen=True, slots=True)
class Round:
    """One answer of the model and what came of it."""

    answer: str
    file: str
    """Text of the test file; empty if the answer holds none."""
    judgement: Judgement
    trial: BothSides | None = None
    """None if there was nothing to run."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation, from the first question to a test file or to giving up."""

    rounds: tuple[Round, ...] = field(default=())

    @property
    def accepted(self) -> Round | None:
        """The round whose test file distinguishes the patches."""
        last = self.rounds[-1] if self.rounds else None
        return last if last and last.judgement.decision is Decision.ACCEPT else None


def converse(material: PromptMaterial, chat: Chat, try_out: Try) -> Conversation:
    """Ask for a test file and have it repaired until it distinguishes the patches or the repairs are used up.

    What ``chat`` and ``try_out`` raise passes through.
    """
    messages = list(first_messages(material))
    rounds: list[Round] = []
    while not rounds or rounds[-1].judgement.decision is Decision.REPAIR:
        answer = chat(messages)
        rounds.append(_round(answer, material.language, len(rounds), try_out))
        messages += [PromptMessage("assistant", answer), PromptMessage("user", rounds[-1].judgement.complaint)]
    return Conversation(tuple(rounds))


def _round(answer: str, language: str, repairs: int, try_out: Try) -> Round:
    text = find_test_file(answer, language)
    trial = try_out(text) if text else None
    return Round(answer, text, judge(trial, repairs), trial)


def judge(trial: BothSides | None, repairs: int) -> Judgement:
    """Decide what becomes of a test file.

    Args:
        trial: what it did on both sides; None if the answer held no test file.
        repairs: how many repairs have been asked for before.
    """
    differing = _differing(trial) if trial else ()
    if differing:
        return Judgement(Decision.ACCEPT, differing)
    if repairs >= MOST_REPAIRS:
        return Judgement(Decision.GIVE_UP)
    return Judgement(Decision.REPAIR, complaint=_complaint(trial))


def _differing(trial: BothSides) -> tuple[str, ...]:
    """Return the tests that pass with gold and fail with the candidate; one that did not run on a side is left out."""
    gold = (name for name, status in trial.gold.items() if status is Status.PASSED)
    return tuple(name for name in gold if trial.candidate.get(name) is Status.FAILED)


def _complaint(trial: BothSides | None) -> str:
    if trial is None:
        return "I find no test file in your answer. Give the whole file in one fenced code block, and nothing after it."
    if Status.PASSED not in trial.gold.values():
        happened = (
            "No test of this file passes with patch A, so it says nothing about patch B. With patch A this happens:"
        )
        return _with_output(happened, trial.gold_output) + _AGAIN
    if not set(trial.candidate.values()) & {Status.PASSED, Status.FAILED}:
        happened = (
            "No test of this file runs with patch B; perhaps it uses a name that only patch A brings. Use only names "
            "that are there with both patches. With patch B this happens:"
        )
        return _with_output(happened, trial.candidate_output) + _AGAIN
    wrong = ", ".join(name for name, status in trial.gold.items() if status in {Status.FAILED, Status.ERROR})
    if wrong:
        happened = (
            f"With patch A these tests fail, so what they demand is not what patch A does: {wrong}. The others pass "
        )
        happened += "with both patches. With patch A this happens:"
        return _with_output(happened, trial.gold_output) + _AGAIN
    return (
        "All tests that run pass with both patches, so they do not distinguish the patches. Compare the two patches "
        "line by line, find an input for which they take different ways, and test its result." + _AGAIN
    )


_AGAIN = "\n\nGive the whole corrected file again in one fenced code block."


def _with_output(happened: str, output: str) -> str:
    return f"{happened}\n\n{fenced(shortened(output, LONGEST_OUTPUT) or '(no output)')}"
