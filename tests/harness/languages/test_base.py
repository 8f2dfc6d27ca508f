"""Helpers and defaults that languages share; test_contract holds what every language owes."""

import pytest

from assay.harness.languages import Language, c, cpp, find, javascript, typescript
from assay.harness.languages.base import Lines, Syntax, anywhere, folders, has_name, no_targets, unchanged


def test_grammar_of_a_file_with_another_suffix() -> None:
    syntax = Syntax(functions=frozenset(), classes=frozenset(), grammars=((".tsx", "ts:language_tsx"),))
    assert syntax.grammar("src/a.tsx") == "ts:language_tsx"
    assert syntax.grammar("src/a.ts") == ""


def test_default_lines_know_comments_only() -> None:
    lines = Lines()
    assert lines.comments == ("//",)
    assert not any((lines.definitions, lines.condition, lines.nothing, lines.empty_statement, lines.semicolons))


@pytest.mark.parametrize(
    ("path", "matches"),
    [("Makefile", True), ("a/b/Makefile", True), ("a/x.mk", True), ("makefile", False), ("x.mk/a", False)],
)
def test_named_looks_at_the_last_part(path: str, matches: bool) -> None:
    assert has_name(path, ["Makefile", "*.mk"]) == matches


def test_anywhere_matches_in_every_folder() -> None:
    assert anywhere("a", "b/*") == ("a", "*/a", "b/*", "*/b/*")


def test_folders_of_a_path() -> None:
    assert folders("a/b/c.py") == ("a", "b")
    assert folders("c.py") == ()


def test_defaults_by_assignment() -> None:
    assert unchanged("a b") == "a b"
    assert no_targets(["a_test.py"]) == ()


@pytest.mark.parametrize(("one", "other"), [(cpp, c), (typescript, javascript)])
def test_languages_of_one_toolchain_share_its_command(one: Language, other: Language) -> None:
    assert one.TEST_COMMAND == other.TEST_COMMAND


LIBRARY = "pub fn a() {}\n\n#[cfg(test)]\nmod tests {\n    fn one() {}\n}\n"


@pytest.mark.parametrize(
    ("theirs", "kept"),
    [
        (LIBRARY.replace("a()", "b()").replace("one()", "two()"), LIBRARY.replace("a()", "b()")),
        (LIBRARY + "\n#[cfg(test)]\nmod more {\n    fn two() {}\n}\n", LIBRARY),
        ("pub fn b() {}\n", LIBRARY.replace("a()", "b()")),
    ],
)
def test_a_source_keeps_the_fix_and_the_tests_of_the_base(theirs: str, kept: str) -> None:
    assert find("rust").LINES.keep_tests(LIBRARY, theirs) == kept
    assert find("go").LINES.keep_tests(LIBRARY, theirs) == theirs
