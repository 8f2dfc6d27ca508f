from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from assay.harness.domain import Status
from assay.harness.patchdiff.generators.llm.prompts import PromptMaterial
from assay.harness.patchdiff.generators.llm.protocol import MOST_REPAIRS, TriedFile, complaint, converse

P, F = Status.PASSED, Status.FAILED
NOTHING = "```python\ndef test_same():\n    assert 1\n```"
TELLING = "```python\ndef test_differs():\n    assert clamp(-1) == 0\n```"
MATERIAL = PromptMaterial(
    issue="clamp lets negative numbers through",
    gold_patch="+    return max(0, number)",
    candidate_patch="+    return number if number else 0",
    targets=("calc.py:clamp",),
    context={"calc.py": "def clamp(number):\n    return number\n"},
    traces=("clamp(3) -> 3",),
)


class Model:
    """Plays its answers in order, and keeps what it was asked."""

    def __init__(self, *answers: str) -> None:
        self._answers = iter(answers)
        self.asked: list[list[tuple[str, str]]] = []

    def __call__(self, messages: Sequence[tuple[str, str]]) -> str:
        self.asked.append(list(messages))
        return next(self._answers)


def both_sides(file: str) -> TriedFile:
    """Act out a container in which only the telling test differs."""
    name = "test_differs" if "test_differs" in file else "test_same"
    return TriedFile(file, {name: P}, {name: F if name == "test_differs" else P})


def test_first_answer_that_distinguishes_the_patches_is_accepted() -> None:
    model = Model(TELLING)
    found = converse(MATERIAL, model, both_sides)
    assert found is not None
    assert found.file == "def test_differs():\n    assert clamp(-1) == 0\n"
    assert found.differing == ["test_differs"]
    assert len(model.asked) == 1


def test_first_messages_hold_everything_once_and_the_answer_format() -> None:
    model = Model(TELLING)
    converse(MATERIAL, model, both_sides)
    ((first, _), (second, user)) = model.asked[0]
    assert (first, second) == ("system", "user")
    wanted = (
        MATERIAL.issue,
        MATERIAL.gold_patch,
        MATERIAL.candidate_patch,
        "- calc.py:clamp",
        "calc.py, before either patch",
        "def clamp(number):",
        "clamp(3) -> 3",
    )
    assert [text for text in wanted if user.count(text) != 1] == []
    assert "Python test file for pytest" in user


def test_repair_sees_the_whole_conversation() -> None:
    model = Model(NOTHING, "I am sorry.", TELLING)
    found = converse(MATERIAL, model, both_sides)
    assert found is not None
    roles, texts = zip(*model.asked[2], strict=True)
    assert roles == ("system", "user", "assistant", "user", "assistant", "user")
    assert texts[2] == NOTHING
    assert "No test of this file passes with patch A and fails" in texts[3]
    assert texts[4] == "I am sorry."
    assert "no test file" in texts[5]


def test_conversation_ends_after_two_repairs() -> None:
    model = Model(NOTHING, NOTHING, NOTHING, TELLING)
    assert converse(MATERIAL, model, both_sides) is None
    assert len(model.asked) == 1 + MOST_REPAIRS


def test_answer_without_a_file_runs_nothing() -> None:
    def never(file: str) -> TriedFile:
        raise AssertionError(file)

    assert converse(MATERIAL, Model("no", "no", "no"), never) is None


def test_model_is_shown_what_its_test_file_does_on_both_sides() -> None:
    message = complaint(TriedFile("", {"a": P}, {"a": P}, "OUTPUT OF A", ""))
    assert message.index("patch A:\n\n```\nOUTPUT OF A\n```") < message.index("patch B:\n\n```\n(no output)\n```")


statuses = st.dictionaries(st.sampled_from("abcd"), st.sampled_from(list(Status)))


@given(statuses, statuses)
def test_only_a_test_that_passes_with_gold_and_fails_with_the_patch_is_accepted(
    gold: dict[str, Status], candidate: dict[str, Status]
) -> None:
    differing = {name for name in gold if gold[name] is P and candidate.get(name) is F}
    assert set(TriedFile("", gold, candidate).differing) == differing


@given(st.lists(st.sampled_from([NOTHING, TELLING, "no"]), min_size=3, max_size=3))
def test_conversation_length_is_bounded(answers: list[str]) -> None:
    model = Model(*answers)
    found = converse(MATERIAL, model, both_sides)
    first = answers.index(TELLING) if TELLING in answers else None
    assert len(model.asked) == (3 if first is None else first + 1)
    assert (found is None) == (first is None)
