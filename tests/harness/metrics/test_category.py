"""What an instance asks for, and how much of the code a patch changes."""

from typing import Any

import pytest

from assay.harness.domain import Origin
from assay.harness.metrics.category import category, complexity
from assay.harness.metrics.placing import parse_patch
from assay.harness.metrics.retrieval import find_touched_nodes
from toy import make_instance

TEXT = """\
TOP = 1


class One:
    a = 1

    def f(self):
        return 1

    def g(self):
        return 1


class Two:
    b = 1
"""


def changing(*lines: int) -> str:
    """Write a patch that changes these lines."""
    old = TEXT.splitlines()
    return "--- a/a.py\n+++ b/a.py\n" + "".join(
        f"@@ -{line} +{line} @@\n-{old[line - 1]}\n+{old[line - 1]}  # new\n" for line in lines
    )


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ((1,), "none"),
        ((8,), "single_function"),
        ((7, 8), "single_function"),
        ((8, 11), "functions"),
        ((5,), "single_class"),
        ((1, 5), "single_class"),
        ((5, 15), "classes"),
        ((5, 8), "mixed"),
        ((8, 15), "mixed"),
    ],
)
def test_complexity_of_a_patch(lines: tuple[int, ...], expected: str) -> None:
    touched = find_touched_nodes(parse_patch(changing(*lines)), {"a.py": TEXT}.get, "python")
    assert complexity(touched) == expected


DOCUMENTS = (
    "--- a/docs/a.rst\n+++ b/docs/a.rst\n@@ -1 +1 @@\n-a\n+b\n--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-a\n+b\n"
)


@pytest.mark.parametrize(
    ("changes", "name", "by"),
    [
        ({"problem_statement": "[Bug]: Add is slow"}, "bug_fix", "tag: [Bug]"),
        ({"problem_statement": "feat(parser): errors carry places"}, "feature", "tag: feat(parser):"),
        ({"problem_statement": "\n# docs: an error\n\ntext"}, "documentation", "tag: docs:"),
        ({"problem_statement": "It fails", "gold_patch": DOCUMENTS}, "documentation", "patch: documents only"),
        ({"problem_statement": "Add an exception for odd input"}, "feature", "beginning of the title: Add"),
        ({"problem_statement": "Parser crashes on odd input"}, "bug_fix", "title: crashes"),
        (
            {"problem_statement": "Rename the parser\n\nIts name is wrong."},
            "refactoring",
            "beginning of the title: Rename",
        ),
        ({"problem_statement": "Rename does not work"}, "bug_fix", "title: does not"),
        (
            {"problem_statement": "Odd input\n\nTraceback (most recent call last):\n  File"},
            "bug_fix",
            "statement: Traceback",
        ),
        ({"problem_statement": "Odd input\n\nIt would be nice to have it."}, "feature", "statement: would be nice"),
        ({"problem_statement": "Odd input"}, "unknown", "no rule"),
        ({"problem_statement": ""}, "unknown", "no rule"),
    ],
)
def test_category_of_a_statement(changes: dict[str, Any], name: str, by: str) -> None:
    found = category(make_instance(**changes))
    assert found.name == name
    assert found.by.startswith(by)


def test_category_of_the_row_comes_first() -> None:
    origin = Origin(dialect="polybench", columns=(("task_category", '"Bug Fix"'), ("num_nodes", "3")))
    found = category(make_instance(problem_statement="Add an option", origin=origin))
    assert (found.name, found.by) == ("bug_fix", "the row's task_category")
    silent = Origin(dialect="polybench", columns=(("task_category", "null"),))
    assert category(make_instance(problem_statement="Add an option", origin=silent)).name == "feature"
