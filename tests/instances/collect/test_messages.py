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
    ("text", "numbers"),
    [
        *((text, (7,)) for text in ("fixes #7.", "Sum\n\nFixed: #7.", "closes acme/calc#7", "RESOLVED GH-7")),
        ("resolve https://github.com/Acme/Calc/issues/7.", (7,)),
        *((text, ()) for text in ("see #7", "fixes other/calc#7", "prefixes #7", "fixes 7")),
        ("fix #9, fix #2\ncloses #9", (2, 9)),
    ],
)
def test_closing_words_of_the_same_repository_count(text: str, numbers: tuple[int, ...]) -> None:
    assert find_closed_issues([text], "acme/calc") == numbers
    assert find_closed_issues(text.split("\n"), "acme/calc") == numbers


FIX = (
    "The sum is wrong (#3)\n\nIt is one too large.\n\n* change the loop\n```diff\n-a\n+b\n```\n"
    "Now src/sum.py starts at 0.\nFixes #2.\n\nSigned-off-by: A <a@example.org>\n"
)
MERGE = "Merge pull request #5 from somebody/mean"


@pytest.mark.parametrize(
    ("message", "merged", "expected"),
    [
        (FIX, (), "The sum is wrong\n\nIt is one too large."),
        (f"{MERGE}\n\nThe mean is missing\n\nAdd it.", ("wip",), "The mean is missing\n\nAdd it."),
        (MERGE, ("The mean is missing", "fix lint"), "The mean is missing"),
    ],
)
def test_the_statement_lacks_what_describes_the_fix(message: str, merged: tuple[str, ...], expected: str) -> None:
    assert statement(message, merged, ["src/sum.py"]) == expected
