from assay.harness.patchdiff.generators.llm.prompts import (
    LONGEST_CONTEXT,
    LONGEST_ISSUE,
    LONGEST_PATCH,
    MOST_TRACES,
    PromptMaterial,
    first_messages,
)


def test_prompt_length_is_bounded() -> None:
    endless = "x" * 1_000_000
    material = PromptMaterial(
        issue=endless,
        gold_patch=endless,
        candidate_patch=endless,
        targets=("a.py:f",),
        context={f"{number}.py": endless for number in range(50)},
        traces=(endless,) * 50,
    )
    _, (_, user) = first_messages(material)
    assert len(user) < LONGEST_ISSUE + 2 * LONGEST_PATCH + LONGEST_CONTEXT + 15_000
    assert user.count("x" * 50) >= MOST_TRACES
