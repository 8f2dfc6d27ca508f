import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.patchdiff.generators.llm.answers import LONGEST_FILE, find_test_file

CODE = "import calc\n\n\ndef test_one():\n    assert calc.add(1, 2) == 3\n"
LONG = "\n".join(f"x = calc.add({number}, 2)" for number in range(20))


@pytest.mark.parametrize(
    "answer",
    [
        f"```python\n{CODE}```",
        f"Here it is:\n\n```py\n{CODE}```\nIt tells them apart.",
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


def test_a_block_in_a_list_loses_its_indentation() -> None:
    indented = "".join(f"   {line}\n" if line else "\n" for line in CODE.splitlines())
    assert find_test_file(f"1. Do this:\n\n   ```python\n{indented}   ```\n") == CODE


def test_fences_inside_of_longer_ones_belong_to_the_file() -> None:
    code = 'TEXT = """\n```\nx\n```\n"""\n\n\ndef test_text():\n    assert TEXT\n'
    assert find_test_file(f"````python\n{code}````") == code


def test_of_equally_long_blocks_the_last_is_the_test_file() -> None:
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
