import pytest

from samples import read


def test_the_issue_is_the_statement_or_else_the_change_of_the_documentation() -> None:
    issues = [read("nocode-bench", number).problem_statement for number in range(3)]
    assert issues == ["+`add` adds.", "+`sub` subtracts.", "Add `mul`."]


@pytest.mark.parametrize(
    ("repo", "log_format", "test_id"),
    [
        ("sympy/sympy", "sympy_text", "function"),
        ("django/django", "unittest_text", ""),
        ("acme/calc", "pytest_text", ""),
    ],
)
def test_labels_are_named_as_the_repositorys_runner_prints_them(repo: str, log_format: str, test_id: str) -> None:
    instance = read("nocode-bench", repo=repo)
    assert (instance.log_format, instance.test_id) == (log_format, test_id)
