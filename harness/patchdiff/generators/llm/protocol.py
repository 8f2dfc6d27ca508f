"""The conversation in which a language model writes tests that pass with one patch and fail with the other. Pure.

The protocol is that of PatchDiff (arXiv 2503.15223): the model sees the issue, both patches, the code around them, the
functions to go through and some calls of them, and writes tests whose outcome should differ. A file that does not pass
on the reference, or does not distinguish the patches, goes back with its output, twice at most. Whether a difference
holds (repetitions, a target reached on both sides) is decided elsewhere, as for every generator.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from assay.harness.domain import Status
from assay.harness.fences import fenced, shortened
from assay.harness.patchdiff.contract import Ask
from assay.harness.patchdiff.generators.llm.answers import find_test_file
from assay.harness.patchdiff.generators.llm.prompts import LONGEST_OUTPUT, PromptMaterial, first_messages

MOST_REPAIRS = 2
"""As in the paper."""


@dataclass(frozen=True, slots=True)
class TriedFile:
    """The statuses of a test file's tests on both sides."""

    file: str
    """Its text."""
    gold: Mapping[str, Status]
    candidate: Mapping[str, Status]
    gold_output: str = ""
    candidate_output: str = ""

    @property
    def differing(self) -> list[str]:
        """Tests that pass with gold and fail with the candidate; one that did not run on a side is left out."""
        passed = (name for name, status in self.gold.items() if status is Status.PASSED)
        return [name for name in passed if self.candidate.get(name) is Status.FAILED]


def converse(material: PromptMaterial, ask: Ask, try_out: Callable[[str], TriedFile]) -> TriedFile | None:
    """Return the first test file that distinguishes the patches; None if none does after all repairs.

    ``try_out`` runs the text of a test file on both sides. What it and the model raise passes through.
    """
    messages = first_messages(material)
    for _ in range(1 + MOST_REPAIRS):
        answer = ask(messages)
        text = find_test_file(answer)
        trial = try_out(text) if text else None
        if trial and trial.differing:
            return trial
        messages = [*messages, ("assistant", answer), ("user", complaint(trial))]
    return None


def complaint(trial: TriedFile | None) -> str:
    """Return the message to the model about a test file that distinguishes nothing, or about an answer without one."""
    if trial is None:
        return "I find no test file in your answer. Give the whole file in one fenced code block, and nothing after it."
    return (
        "No test of this file passes with patch A and fails with patch B. Demand what patch A does, with names that "
        "both patches have. Compare the two line by line, and find an input for which they take different ways.\n\n"
        f"With patch A:\n\n{_shown(trial.gold_output)}\n\nWith patch B:\n\n{_shown(trial.candidate_output)}\n\n"
        "Give the whole corrected file again in one fenced code block."
    )


def _shown(output: str) -> str:
    return fenced(shortened(output, LONGEST_OUTPUT) or "(no output)")
