"""Calls and base classes in files of each language, listed by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.solvers.tree_search.relations import Mention, mentions
from assay.harness.languages import LANGUAGES
from assay.harness.languages.syntax import parse

CASES = {
    "python": (
        "shop.py",
        "class Shop(town.House, Generic[T], metaclass=M):\n"
        "    def f(self):\n        self.g(1).h()\n        till[0](1)\n",
        [("inherits", "House", 1), ("inherits", "Generic", 1), ("calls", "g", 3), ("calls", "h", 3)],
    ),
    "java": (
        "Shop.java",
        "class Shop extends House<T> implements Open, Close {\n void f() { this.g(); new Till<Coin>(); }\n}\n"
        "interface Open extends Door {}\n",
        [
            *(("inherits", "House", 1), ("inherits", "Open", 1), ("inherits", "Close", 1)),
            *(("calls", "g", 2), ("calls", "Till", 2), ("inherits", "Door", 4)),
        ],
    ),
    "kotlin": (
        "shop.kt",
        "class Shop : House<T>(1), Open, Door by gate {\n fun f() { this.g(); Till<Coin>(); h { i() } }\n}\n"
        "object One : town.Yard()\n",
        [
            *(("inherits", "House", 1), ("inherits", "Open", 1), ("inherits", "Door", 1)),
            *(("calls", "g", 2), ("calls", "Till", 2), ("calls", "h", 2), ("calls", "i", 2), ("inherits", "Yard", 4)),
        ],
    ),
    "javascript": (
        "shop.js",
        "class Shop extends town.House {\n f() { this.g(); new Till(); h(); }\n}\n",
        [("inherits", "House", 1), ("calls", "g", 2), ("calls", "Till", 2), ("calls", "h", 2)],
    ),
    "typescript": (
        "shop.tsx",
        "class Shop extends House<T> implements Open {\n f() { this.g<T>(); new Till<Coin>(); }\n}\n"
        "interface Open extends Door, Gate<T> {}\n",
        [
            *(("inherits", "House", 1), ("inherits", "Open", 1), ("calls", "g", 2), ("calls", "Till", 2)),
            *(("inherits", "Door", 4), ("inherits", "Gate", 4)),
        ],
    ),
    "go": (
        "shop.go",
        "package a\ntype Shop struct { House; *town.Yard; doors int }\ntype Open interface { Door; F() }\n"
        "func f() { g(); x.h(); k.l[int](1) }\n",
        [
            *(("inherits", "House", 2), ("inherits", "Yard", 2), ("inherits", "Door", 3)),
            *(("calls", "g", 4), ("calls", "h", 4)),
        ],
    ),
    "rust": (
        "shop.rs",
        'impl fmt::Display for Shop {\n fn f() { g(); Self::h(); Vec::<u8>::new(); print!("") }\n}\n'
        "trait Open: Door + Gate<W> {}\n",
        [
            *(("inherits", "Display", 1), ("calls", "g", 2), ("calls", "h", 2), ("calls", "new", 2)),
            *(("calls", "print", 2), ("inherits", "Door", 4), ("inherits", "Gate", 4)),
        ],
    ),
    "c": ("shop.c", "void f(void) {\n g(1);\n till->h();\n}\n", [("calls", "g", 2), ("calls", "h", 3)]),
    "cpp": (
        "shop.cpp",
        "class Shop : public House<T>, private town::Yard {\n"
        " void f() { g(); x.h(); town::k<int>(); new Till(); }\n};\n",
        [
            *(("inherits", "House", 1), ("inherits", "Yard", 1), ("calls", "g", 2), ("calls", "h", 2)),
            *(("calls", "k", 2), ("calls", "Till", 2)),
        ],
    ),
    "php": (
        "shop.php",
        "<?php class Shop extends House implements Open {\n function f() { g(); $this->h(); X::i(); new Till(); }\n}\n",
        [
            *(("inherits", "House", 1), ("inherits", "Open", 1), ("calls", "g", 2), ("calls", "h", 2)),
            *(("calls", "i", 2), ("calls", "Till", 2)),
        ],
    ),
    "ruby": (
        "shop.rb",
        "class Shop < Town::House\n def f\n  g(1)\n  till.h?\n  Coin.new\n end\nend\n",
        [("inherits", "House", 1), ("calls", "g", 3), ("calls", "h?", 4), ("calls", "Coin", 5), ("calls", "new", 5)],
    ),
}


def read(language: str, path: str, text: str) -> tuple[Mention, ...]:
    parsed = parse(language, path, text)
    assert parsed is not None
    return mentions(parsed)


def test_every_language_with_a_query_has_a_case() -> None:
    assert {name for name, language in LANGUAGES.items() if language.SYNTAX.mentions} == set(CASES)


@pytest.mark.parametrize("language", CASES)
def test_mentions_are_calls_and_bases(language: str) -> None:
    path, text, expected = CASES[language]
    assert [(each.relation, each.name, each.line) for each in read(language, path, text)] == expected


def test_file_of_another_language_is_read_as_that() -> None:
    assert [each.name for each in read("java", "run.py", "f()")] == ["f"]


@given(st.sampled_from(sorted(CASES)), st.integers(0, 200), st.text(max_size=20))
def test_broken_code_gives_the_mentions_that_parse(language: str, cut: int, noise: str) -> None:
    path, text, _ = CASES[language]
    broken = text[:cut] + noise + text[cut:]
    lines = broken.encode(errors="replace").count(b"\n") + 1
    assert all(each.name and 1 <= each.line <= lines for each in read(language, path, broken))
