import pytest

from assay.instances.audit.subject import is_source, is_test_file, plain, subject
from toy import GOLD, make_instance

DOCS = GOLD.replace("calc.py", "docs/calc.md")
TESTS = GOLD.replace("calc.py", "tests/test_calc.py")


@pytest.mark.parametrize(("gold", "fix"), [(DOCS + GOLD + TESTS, ["calc.py"]), (DOCS + TESTS, ["docs/calc.md"])])
def test_fix_is_the_change_of_sources_or_else_of_all_but_tests(gold: str, fix: list[str]) -> None:
    assert [change.path for change in subject(make_instance(gold_patch=gold)).fix()] == fix


def test_solution_lines_are_distinctive_and_new() -> None:
    patch = (
        "--- a/calc.py\n+++ b/calc.py\n@@ -1,2 +1,5 @@\n def add(left, right):\n-    return left - right\n"
        "+    # the sum of both\n+    return left + right\n+    return left - right\n+    return left + right\n"
    )
    about = subject(make_instance(gold_patch=patch))
    assert about.solution_lines() == ("return left + right",)
    assert len(list(about.find_added_code())) == 4


@pytest.mark.parametrize(
    ("path", "language", "source"),
    [
        ("a.c", "cpp", True),
        ("a.hpp", "c", True),
        ("a.ts", "javascript", True),
        ("a.py", "c", False),
        ("a.rs", "?", True),
    ],
)
def test_source_is_code_of_the_toolchain(path: str, language: str, source: bool) -> None:
    assert is_source(path, language) == source


def test_file_of_an_unknown_language_is_a_test_by_any_naming() -> None:
    assert is_test_file("pkg/a_test.go", "kobold")
    assert not is_test_file("pkg/a_test.go", "java")


def test_plain_statement_has_no_hidden_comments() -> None:
    assert plain("a\r\n<!-- read\nthis -->b") == "a\nb"
