"""The prompt that asks a language model for tests that distinguish two patches. Pure; the words are Assay's."""

from collections.abc import Mapping
from dataclasses import dataclass

from assay.harness.fences import fence, shorten
from assay.harness.templates import text_environment

SAME = "EQUIVALENT"  # the model's answer if it finds no input on which the patches differ
LONGEST = {"issue": 8_000, "patch": 20_000, "context": 24_000, "traces": 4_000, "output": 3_000}
"""Characters of each part, of all context together. Longer ones are cut in the middle, with a mark."""


@dataclass(frozen=True, slots=True)
class PromptMaterial:
    issue: str
    gold_patch: str
    candidate_patch: str
    code_diff: str
    targets: tuple[str, ...]
    """Public functions that lead to what the patches change, ``path:name``."""
    context: Mapping[str, str]
    """Gold's code around the differences, by path."""
    traces: tuple[str, ...]
    """Calls of the targets by developer tests, a line each."""
    runner: str = ""
    """The runner of the project's tests, by its name in recipes."""


def first_messages(material: PromptMaterial) -> list[tuple[str, str]]:
    """Return the first messages, (role, text): the task and the material."""
    texts = text_environment(__package__)
    texts.filters["block"] = lambda text, most, info="": fence(shorten(text, most), info)
    given = {"material": material, "same": SAME, "longest": LONGEST}
    return [(role, texts.get_template(f"{role}.md.jinja").render(given)) for role in ("system", "user")]
