from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.domain import Status
from assay.harness.patchdiff.generators.llm.prompts import SAME, PromptMaterial
from assay.harness.patchdiff.generators.llm.protocol import (
    LONGEST_FILE,
    MOST_REPAIRS,
    TriedFile,
    complain,
    converse,
    find_test_file,
)

P, F = Status.PASSED, Status.FAILED
NOTHING = "```python\ndef test_same():\n    assert 1\n```"
TELLING = "```python\ndef test_differs():\n    assert clamp(-1) == 0\n```"
MATERIAL = PromptMaterial(
    issue="clamp lets negative numbers through",
    gold_patch="+    return max(0, number)",
    candidate_patch="+    return number if number else 0",
    code_diff="-    return max(0, number)\n+    return number or 0",
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
        "calc.py, with patch A",
        MATERIAL.code_diff,
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


@pytest.mark.parametrize("answer", [SAME, f"{SAME}.", f"**{SAME}**\n", f"```\n{SAME}\n```"])
def test_conversation_ends_if_the_model_finds_the_patches_equivalent(answer: str) -> None:
    model = Model(NOTHING, answer, TELLING)
    assert converse(MATERIAL, model, both_sides) is None
    assert len(model.asked) == 2


@pytest.mark.parametrize("line", ["assert clamp(-1)._sign == 0", "from calc import (clamp, _floor)", "calc._floor(3)"])
def test_file_with_private_names_goes_back(line: str) -> None:
    model = Model(f"```python\nimport calc\n\ndef test_differs():\n    {line}\n```", TELLING)
    found = converse(MATERIAL, model, both_sides)
    assert found is not None
    assert found.file.startswith("def test_differs():\n    assert clamp(-1)")
    assert "uses a private name" in model.asked[1][-1][1]


def test_names_that_the_test_file_makes_itself_may_begin_with_an_underscore() -> None:
    own = "class TestIt:\n    def _make(self):\n        return 1\n"
    code = f"{own}\n    def test_differs(self):\n        assert self._make().__class__\n"
    found = converse(MATERIAL, Model(f"```python\n{code}```"), both_sides)
    assert found is not None
    assert found.file == code


def test_answer_without_a_file_runs_nothing() -> None:
    never: Any = None  # no function to call
    assert converse(MATERIAL, Model("no", "no", "no"), never) is None


def test_model_is_shown_what_its_test_file_does_on_both_sides() -> None:
    message = complain(TriedFile("", {"a": P}, {"a": P}, "OUTPUT OF A", ""))
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


CODE = "import calc\n\n\ndef test_one():\n    assert calc.add(1, 2) == 3\n"
LONG = "\n".join(f"x = calc.add({number}, 2)" for number in range(20))


@pytest.mark.parametrize(
    "answer",
    [
        f"```python\n{CODE}```",
        f"Here it is:\n\n```py\n{CODE}```\nIt distinguishes them.",
        f"```\n{CODE}```",
        f"~~~python\n{CODE}~~~",
        f"````python\n{CODE}````",
        f"```python tests/test_new.py\n{CODE}```",
        f"```tests/test_new.py\n{CODE}```",
        f"``` Python\n{CODE}```",
        f"```python\r\n{CODE.replace(chr(10), chr(13) + chr(10))}```",
        f"```python\n\n\n{CODE}\n\n```",
        f"```python\n{CODE}",
        CODE,
        f"```bash\npytest -k test_one\n```\n```python\n{CODE}```\n```text\n1 passed, def test_two\n```",
        f"```diff\n{LONG.replace('x', 'def test_patch')}\n```\n```python\n{CODE}```",
        f"```python\n{LONG}\n```\n```python\n{CODE}```",
        f"First try:\n```python\ndef test_x(): pass\n```\nBetter:\n```python\n{CODE}```",
    ],
)
def test_test_file_is_found_in_an_answer(answer: str) -> None:
    assert find_test_file(answer) == CODE


def test_block_in_a_list_the_longest_fence_and_the_last_of_equally_long_blocks_are_found() -> None:
    indented = "".join(f"   {line}\n" if line else "\n" for line in CODE.splitlines())
    assert find_test_file(f"1. Do this:\n\n   ```python\n{indented}   ```\n") == CODE
    code = 'TEXT = """\n```\nx\n```\n"""\n\n\ndef test_text():\n    assert TEXT\n'
    assert find_test_file(f"````python\n{code}````") == code
    answer = "```python\ndef test_a(): pass\n```\n```python\ndef test_b(): pass\n```"
    assert find_test_file(answer) == "def test_b(): pass\n"


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "I cannot help with that.",
        "You could write a class TestCase for it.",
        "```python\nx = 1\n```",
        "```bash\ndef test_x\n```",
        "```\n```",
        "```python\n```",
        "```javascript\ndef test_x(): pass\n```",
        "```python\ndef test_x():\n    " + "x = 1;" * LONGEST_FILE + "\n```",
    ],
)
def test_where_there_is_none_nothing_is_found(answer: str) -> None:
    assert find_test_file(answer) == ""


@pytest.mark.parametrize("code", ["async def test_x():\n    pass\n", "class TestX(unittest.TestCase):\n    pass\n"])
def test_tests_may_be_coroutines_or_classes(code: str) -> None:
    assert find_test_file(f"```py\n{code}```") == code
    assert find_test_file(f"```pytb\n{code}```") == ""


@given(st.text("`~ \npydeftsx_():", max_size=120))
def test_any_answer_is_parsed_without_error(answer: str) -> None:
    found = find_test_file(answer)
    assert found == "" or found.endswith("\n")
