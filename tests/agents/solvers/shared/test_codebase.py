import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.solvers.shared.codebase import Codebase, dot_name, heads
from assay.harness.languages.syntax import definitions


@given(st.text("ab\n", max_size=40), st.text("ab\n", min_size=1, max_size=4))
def test_occurrences_cover_every_line_of_a_text(text: str, wanted: str) -> None:
    snippets = list(Codebase({"a.txt": text}, "python").occurrences("a.txt", wanted, 1))
    covered = {line for each in snippets for line in range(each.first, each.last + 1)}
    begins = {text.count("\n", 0, match.start()) + 1 for match in re.finditer(re.escape(wanted), text)}
    assert begins <= covered
    assert all(each.code == "\n".join(text.split("\n")[each.first - 1 : each.last]) for each in snippets)


FILES = {
    "src/shop.py": "def half(x):\n    return x / 2\n",
    "lib/shop.py": "",
    "tests/test_shop.py": "x = 1",
    "README": "a\n",
}


def test_paths_are_sources_then_tests_then_other_texts() -> None:
    assert Codebase(FILES, "python").paths == ("lib/shop.py", "src/shop.py", "tests/test_shop.py", "README")


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("src/shop.py", ["src/shop.py"]),
        ("shop.py", ["lib/shop.py", "src/shop.py"]),
        ("/testbed/src/shop.py", ["src/shop.py"]),
        ("op.py", []),
        ("", []),
    ],
)
def test_files_match_whole_path_parts(name: str, files: list[str]) -> None:
    assert Codebase(FILES, "python").files(name) == files


def test_like_finds_similar_names() -> None:
    assert Codebase(FILES, "python").find_similar("shops.py", 2) == ["lib/shop.py", "src/shop.py"]


def test_height_counts_a_last_line_without_an_end() -> None:
    code = Codebase(FILES, "python")
    assert [code.height(path) for path in ("src/shop.py", "lib/shop.py", "tests/test_shop.py")] == [2, 0, 1]


def test_snippet_belongs_to_the_innermost_definition() -> None:
    snippet = Codebase(FILES, "python").snippet("src/shop.py", 1, 2, 2)
    assert (snippet.owner, snippet.code) == ("half", "def half(x):\n    return x / 2")


@pytest.mark.parametrize("name", ["A::b", "A#b", "A->b", "A\\b", "A.b(c)", " A.b "])
def test_dotted_spells_a_qualified_name_with_dots(name: str) -> None:
    assert dot_name(name) == "A.b"


SOURCES = {
    "python": ("a.py", "@cached\nclass Shop(Base):\n    def price(\n        self, n\n    ):\n        return n\n"),
    "c": ("shop.c", "struct shop { int price; };\nstatic int half(int x)\n{\n  return x / 2;\n}\n"),
    "go": ("a.go", "package a\n\nfunc (s *Shop) price() int {\n\treturn 1\n}\n"),
}
HEADS = {
    "python": ["@cached\nclass Shop(Base):", "    def price(\n        self, n\n    ):"],
    "c": ["struct shop", "static int half(int x)"],
    "go": ["func (s *Shop) price() int"],
}


@pytest.mark.parametrize("language", SOURCES)
def test_heads_end_where_the_body_begins(language: str) -> None:
    path, text = SOURCES[language]
    assert heads(language, path, text, definitions(language, path, text)) == HEADS[language]


def test_heads_of_a_file_in_no_language_are_empty() -> None:
    assert heads("python", "notes.txt", "def x", []) == []
