"""Samples of a repair, judged without running anything."""

import pytest

from assay.agents.contract import AgentTask
from assay.agents.solvers.agentless.repair import RepairSample, judge
from assay.agents.solvers.agentless.repository import Repository

PRICES = "LIMIT = 10\n\n\ndef price(count):\n    return count * 3\n\n\ndef discount(count):\n    return count > LIMIT\n"
TILLS = "def open_till():\n    return 'till'\n"
SHOWN = [(1, 1), (8, 9)]


def edit(search: str, replace: str, path: str = "shop/prices.py") -> str:
    return f"```python\n### {path}\n<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n```"


def judged(answer: str) -> RepairSample:
    task = AgentTask(repo="a/shop", language="python", problem_statement="ten is enough")
    files = {"shop/prices.py": PRICES, "shop/tills.py": TILLS}
    repository = Repository(task, files, frozenset({*files, "docs/conf.py"}))
    return judge(answer, repository, {"shop/prices.py": SHOWN}, "locations 0, sample 0")


def test_edit_within_the_shown_lines_makes_a_sample() -> None:
    sample = judged(edit("    return count > LIMIT", "    return count >= LIMIT"))
    assert sample.files == {"shop/prices.py": PRICES.replace("> LIMIT", ">= LIMIT")}
    assert sample.key
    assert (sample.source, sample.reason, sample.remarks) == ("locations 0, sample 0", "", ())


def test_new_file_belongs_to_a_sample() -> None:
    answer = edit("LIMIT = 10", "LIMIT = 9") + "\n" + edit("", "TEN = 10", "shop/numbers.py")
    assert judged(answer).files.keys() == {"shop/prices.py", "shop/numbers.py"}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("I do not know.", "no edit in the answer"),
        (edit("    return count > LIMITS ** 9", "x"), "lines to replace were not found"),
        (edit("    return count > LIMIT", "    return count >= (LIMIT"), "no longer parses: line 9"),
        (edit("    return count > LIMIT", "\n    return count > LIMIT\n"), "only blank lines change"),
        (edit("LIMIT = 10", "LIMIT = 10  # ten"), "only comments, docstrings or layout change"),
        (edit("    return 'till'", "    return 1", "shop/tills.py"), "was not shown"),
        (edit("", "x = 1", "docs/conf.py"), "was not shown"),
        (edit("    return count * 3", "    return 0"), "not found"),  # it exists, but outside of the shown lines
    ],
)
def test_unusable_answer_is_dropped_with_a_reason(answer: str, reason: str) -> None:
    sample = judged(answer)
    assert (sample.files, sample.key) == ({}, "")
    assert reason in sample.reason


def test_draft_in_a_thought_is_no_part_of_the_answer() -> None:
    draft, right = (edit("    return count > LIMIT", f"    return count {each} LIMIT") for each in ("<", ">="))
    told = f"<think>\n{draft}\n</think>\n<solution>\n{right}\n</solution>"
    assert judged(told) == judged(right)
