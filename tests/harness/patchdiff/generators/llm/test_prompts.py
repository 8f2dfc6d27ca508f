import pytest

from assay.harness.patchdiff.generators.llm.prompts import LONGEST, PromptMaterial, first_messages


def test_prompt_length_is_bounded() -> None:
    endless = "x" * 1_000_000
    material = PromptMaterial(
        issue=endless,
        gold_patch=endless,
        candidate_patch=endless,
        code_diff=endless,
        targets=("a.py:f",),
        context={f"{number}.py": endless for number in range(50)},
        traces=(endless,) * 50,
    )
    _, (_, user) = first_messages(material)
    assert len(user) < LONGEST["issue"] + 3 * LONGEST["patch"] + LONGEST["context"] + 15_000
    assert len(user) > LONGEST["issue"] + 3 * LONGEST["patch"] + LONGEST["context"] + LONGEST["traces"]


@pytest.mark.parametrize(
    ("runner", "wanted"),
    [
        ("pytest", "for pytest"),
        ("django", "django.test.SimpleTestCase"),
        ("sympy", "without fixtures"),
        ("", "for pytest"),
    ],
)
def test_test_file_is_of_the_kind_that_the_runner_takes(runner: str, wanted: str) -> None:
    material = PromptMaterial("issue", "a", "b", "", (), {}, (), runner)
    _, (_, user) = first_messages(material)
    assert wanted in user.partition("## What to write")[2].partition("in one fenced code block")[0]
