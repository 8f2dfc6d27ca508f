import pytest

from assay.agents.solvers.shared.signatures import heads
from assay.harness.languages.syntax import definitions

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
