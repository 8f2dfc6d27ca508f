import pytest

from assay.agents.solvers.shared.syntax_check import find_broken, first_error
from shop_programs import PROGRAMS


@pytest.mark.parametrize("language", sorted(PROGRAMS))
def test_file_that_no_longer_parses_is_broken(language: str) -> None:
    path, text = PROGRAMS[language]
    assert first_error(language, path, text) == ""
    cut_off = text[: text.index("price") + len("price(")]
    assert list(find_broken(language, {path: text}, {path: cut_off})) == [path]
    assert find_broken(language, {path: text}, {path: text.replace("price", "cost")}) == {}


def test_no_new_error_is_found_in_what_never_parsed_or_is_a_warning() -> None:
    assert find_broken("c", {"a.c": "int f( {\n"}, {"a.c": "int g( {\n"}) == {}
    assert find_broken("python", {"a.py": "x = 1\n"}, {"a.py": "x = '\\d'\n"}) == {}


def test_new_file_must_parse() -> None:
    assert find_broken("go", {}, {"a.go": "package a\nfunc f( {\n"})
    assert find_broken("go", {}, {"a.go": "package a\n", "notes.txt": "func f( {"}) == {}


def test_python_compiler_finds_what_the_grammar_misses() -> None:
    before = {"a.py": "f(a=1)\n"}
    assert find_broken("python", before, {"a.py": "if x:\n    y\n  z\n"})
    assert find_broken("python", before, {"a.py": "return f(a=1)\n"}) == {"a.py": "line 1: 'return' outside function"}


def test_first_error_names_its_line_and_ignores_spaces_after_an_include() -> None:
    assert first_error("c", "a.c", "#include <a.h>  \nint x;\n") == ""
    assert first_error("java", "A.java", "class A {\n  int x\n}\n").startswith("line 2: ")
