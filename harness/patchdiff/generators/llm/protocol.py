"""The conversation in which a language model writes tests that pass with one patch and fail with the other. Pure.

The protocol is that of PatchDiff (arXiv 2503.15223): the model sees the issue, both patches, the code around them, the
functions to go through and some calls of them, and writes tests whose outcome should differ. A file that does not pass
on the reference, or does not distinguish the patches, goes back with its output, twice at most. Unlike there, the model
may answer that the patches are equivalent, which ends the conversation. Whether a difference holds is decided
elsewhere, as for every generator.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from assay.harness.domain import Status
from assay.harness.fences import fence, find_blocks, shorten
from assay.harness.languages import python
from assay.harness.patchdiff.contract import Ask
from assay.harness.patchdiff.generators.llm.prompts import LONGEST, SAME, PromptMaterial, first_messages

MOST_REPAIRS = 2  # the paper's limit
LONGEST_FILE = 200_000  # characters of a test file that a person might write
_SOMETHING_ELSE = re.compile(r"(?!py(?:thon)?3?$)[a-z+#]+\d?")
"""First word behind a block's fence for another language, a patch, a shell's output."""
_PROSE = re.compile(r"\s*[A-Z][a-z']*,? [a-z']+ [a-z']+")
_PRIVATE = re.compile(r"(?<!\bself)\.(_[a-z]\w*)|\bimport\b.*[ (](_[a-z]\w*)")
"""A private name that is looked up in something, or imported; a test class may have its own."""
_TEST = re.compile(python.TEST_SIGN, re.MULTILINE)


@dataclass(frozen=True, slots=True)
class TriedFile:
    """The statuses of a test file's tests on both sides."""

    file: str
    gold: Mapping[str, Status]
    candidate: Mapping[str, Status]
    gold_output: str = ""
    candidate_output: str = ""

    @property
    def differing(self) -> list[str]:
        """Tests that pass with gold and fail with the candidate, except tests that did not run on a side."""
        passed = (name for name, status in self.gold.items() if status is Status.PASSED)
        return [name for name in passed if self.candidate.get(name) is Status.FAILED]


def converse(material: PromptMaterial, ask: Ask, try_out: Callable[[str], TriedFile]) -> TriedFile | None:
    """Return the first test file that distinguishes the patches; None if all repairs fail, or the model sees no way.

    ``try_out`` runs the text of a test file on both sides. Its and the model's errors pass through.
    """
    messages = first_messages(material)
    for _ in range(1 + MOST_REPAIRS):
        answer = ask(messages)
        if answer.strip(" \n.*`") == SAME:
            break
        text = find_test_file(answer)
        private = _PRIVATE.search(text)
        trial = try_out(text) if text and not private else None
        if trial and trial.differing:
            return trial
        messages = [*messages, ("assistant", answer), ("user", complain(trial, private[0] if private else ""))]
    return None


def find_test_file(answer: str) -> str:
    """Return the Python test file of an answer, with a newline at its end; "" if the answer holds none.

    It is the longest block with tests; the last of equally long ones. A block that is not closed (the answer was cut
    off) counts, and so does an answer without any block that is nothing but code.
    """
    blocks = list(find_blocks(answer))
    texts = [text for info, text in blocks if not _SOMETHING_ELSE.fullmatch(info)]
    if not blocks and not _PROSE.match(answer):
        texts = [answer]
    best = max(filter(_TEST.search, reversed(texts)), key=len, default="").strip("\n")
    return f"{best}\n" if best and len(best) <= LONGEST_FILE else ""


def complain(trial: TriedFile | None, private: str = "") -> str:
    if private:
        return f"The file uses a private name, {private}. Give the whole file again, with public names alone."
    if trial is None:
        return "I find no test file in your answer. Give the whole file in one fenced code block, and nothing after it."
    return (
        "No test of this file passes with patch A and fails with patch B. Demand what patch A does, with names that "
        "both patches have. Compare the two line by line, and find an input for which they take different ways.\n\n"
        f"With patch A:\n\n{_fence(trial.gold_output)}\n\nWith patch B:\n\n{_fence(trial.candidate_output)}\n\n"
        "Give the whole corrected file again in one fenced code block."
    )


def _fence(output: str) -> str:
    return fence(shorten(output, LONGEST["output"]) or "(no output)")
