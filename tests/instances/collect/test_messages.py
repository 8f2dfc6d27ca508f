"""Messages of commits: pull requests, issues that they close, statements."""

import pytest

from assay.instances.collect.messages import find_closed_issues, pull_request, statement


@pytest.mark.parametrize(
    ("message", "number"),
    [
        ("Merge pull request #12 from somebody/branch\n\nTitle", 12),
        ("Fix the sum (#34)", 34),
        ("Fix the sum (#34) \n\nbody (#35)", 34),
        ("Fix the sum of #34", 0),
        ("Merge branch 'stable'", 0),
        ("", 0),
    ],
)
def test_the_pull_request_is_where_github_writes_it(message: str, number: int) -> None:
    assert pull_request(message) == number


@pytest.mark.parametrize(
    "text",
    ["fixes #7", "Fixed: #7", "closes acme/calc#7", "RESOLVED GH-7", "resolve https://github.com/Acme/Calc/issues/7"],
)
def test_closing_words_of_the_same_repository_count(text: str) -> None:
    assert find_closed_issues([f"Sum\n\n{text}."], "acme/calc") == (7,)


@pytest.mark.parametrize("text", ["see #7", "fixes other/calc#7", "prefixes #7", "fixes 7"])
def test_other_references_close_nothing(text: str) -> None:
    assert find_closed_issues([text], "acme/calc") == ()


def test_issues_are_sorted_and_counted_once() -> None:
    assert find_closed_issues(["fix #9, fix #2", "closes #9"], "acme/calc") == (2, 9)


def test_the_statement_lacks_what_describes_the_fix() -> None:
    message = (
        "The sum is wrong (#3)\n\nIt is one too large.\n\n* change the loop\n```diff\n-a\n+b\n```\n"
        "Now src/sum.py starts at 0.\nFixes #2.\n\nSigned-off-by: A <a@example.org>\n"
    )
    assert statement(message, (), ["src/sum.py"]) == "The sum is wrong\n\nIt is one too large."


def test_a_merge_has_its_own_title() -> None:
    message = "Merge pull request #5 from somebody/mean\n\nThe mean is missing\n\nAdd it, please."
    assert statement(message, ("wip",), []) == "The mean is missing\n\nAdd it, please."


def test_a_merge_without_a_title_has_that_of_its_first_commit() -> None:
    merged = ("The mean is missing", "fix lint")
    assert statement("Merge pull request #5 from somebody/mean", merged, []) == "The mean is missing"
