"""The answers of SWE-RL, and what their edits leave."""

import pytest

from answered import ANSWER, BROKEN, CALC, FILES, OTHER, RIGHT, answer, block
from assay.harness.edits.solution import WrongAnswerError, change_texts, read_edits, read_solution


def change(text: str, files: dict[str, str] = FILES) -> dict[str, str]:
    return change_texts(read_edits(read_solution(text)), files.get)[1]


def test_solution_of_an_answer_changes_files_of_the_base_commit() -> None:
    fixed = CALC.replace("-", "+")
    assert change_texts(read_edits(read_solution(ANSWER)), FILES.get) == ({"calc.py": CALC}, {"calc.py": fixed})
    assert change(answer(RIGHT, block("new/more.py", "", "x = 1\n"))) == {"calc.py": fixed, "new/more.py": "x = 1\n"}
    assert change(answer("As I said:\n\n", RIGHT.replace("```python\n", "").replace("```\n", ""))) == {"calc.py": fixed}


@pytest.mark.parametrize("name", BROKEN)
def test_answer_that_is_wrong_says_how(name: str) -> None:
    with pytest.raises(WrongAnswerError, match=r"\w"):
        change(BROKEN[name])


def test_edit_applies_in_every_place_that_has_its_lines_and_in_no_similar_one() -> None:
    files = {"a.py": "x = 1\n  x = 1\nx = 1\nx = 10\nx = 1"}
    assert change(answer(block("a.py", "x = 1\n", "x = 2\n")), files) == {
        "a.py": "x = 2\n  x = 1\nx = 2\nx = 10\nx = 2"
    }
    assert change(answer(block("a.py", "y\ny\n", "z\n")), {"a.py": "y\ny\ny\n"}) == {"a.py": "z\ny\n"}


def test_edits_apply_in_order_and_keep_the_line_ends_of_a_file() -> None:
    twice = answer(OTHER, block("calc.py", "    return a * b\n", "    return a + b\n"))
    assert change(twice, {"calc.py": CALC.replace("\n", "\r\n")}) == {
        "calc.py": CALC.replace("-", "+").replace("\n", "\r\n")
    }


def test_files_are_read_once_for_an_edit_that_breaks_no_rule() -> None:
    asked: list[str] = []

    def read(path: str) -> str | None:
        asked.append(path)
        return FILES.get(path)

    change_texts(read_edits(RIGHT + RIGHT), read)
    with pytest.raises(WrongAnswerError):
        change_texts(read_edits(RIGHT.replace("calc.py", "/etc/passwd")), read)
    assert asked == ["calc.py"]
