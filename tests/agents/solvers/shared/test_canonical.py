"""Layout, comments and docstrings are normalised in every language; everything else is kept."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.agents.solvers.shared.canonical import canonical
from shop_programs import PROGRAMS

LANGUAGES = sorted(PROGRAMS)
COMMENT = {"python": "#", "ruby": "#", "php": "#"}


def spelled(language: str, text: str) -> list[str]:
    return list(canonical(language, PROGRAMS[language][0], text))


def test_canonical_of_a_small_file() -> None:
    text = '"""Doc."""\nx = [1,\n     2,\n     ]   # two\n\n'
    text += "def f( a,b ):\n  'doc'\n  if a : return 'q'\n  else:\n    return(b)\n"
    expected = ["x=[1,2]", "def f(a,b):", "    if a:", '        return "q"', "    else:", "        return(b)"]
    assert list(canonical("python", "f.py", text)) == expected


@pytest.mark.parametrize("language", LANGUAGES)
def test_canonical_is_idempotent(language: str) -> None:
    once = spelled(language, PROGRAMS[language][1])
    assert spelled(language, "\n".join(once) + "\n") == once


@pytest.mark.parametrize("language", LANGUAGES)
def test_comments_are_removed_and_literals_kept(language: str) -> None:
    text = "\n".join(spelled(language, PROGRAMS[language][1]))
    assert "sells" not in text.lower()
    assert "# most" not in text
    assert "// most" not in text
    assert re.search("a  b|  x|x  ", text)


@settings(max_examples=20, deadline=None)
@given(data=st.data())
@pytest.mark.parametrize("language", LANGUAGES)
def test_blank_lines_comments_and_trailing_spaces_change_nothing(language: str, data: st.DataObject) -> None:
    """Draw what is put behind the ends of the lines."""
    comment = COMMENT.get(language, "//")
    additions = ["", "", "  ", "\n", f" {comment} why", f"\n{comment} why not\n"]
    lines = PROGRAMS[language][1].splitlines()
    drawn = [line + data.draw(st.sampled_from(additions)) for line in lines]
    assert spelled(language, "\n".join(drawn) + "\n") == spelled(language, PROGRAMS[language][1])


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_name_and_number_is_kept(language: str) -> None:
    """Change one word after the other: the spelling must change with each."""
    usual = spelled(language, PROGRAMS[language][1])
    text = "\n".join(usual) + "\n"
    for word in ("price", "LIMIT", "10", "size", "x"):
        found = re.search(rf"\b{word}\b", text)
        if found:
            changed = text[: found.start()] + ("11" if word == "10" else "zebra") + text[found.end() :]
            assert spelled(language, changed) != usual, word


def test_semicolons_in_a_loop_head_are_kept() -> None:
    text = "package a\nfunc f() { switch x := g(); x { case 1: h() }; for i := 0; i < 1; i++ { }; }\n"
    spelling = "\n".join(canonical("go", "f.go", text))
    assert "switch x:=g();x{" in spelling
    assert "for i:=0;i<1;i++{" in spelling


@pytest.mark.parametrize(
    ("language", "path", "one", "other"),
    [
        ("python", "f.py", "if a:\n    b\nc\n", "if a:\n    b\n    c\n"),
        ("python", "f.py", "x = (1,)\n", "x = (1)\n"),
        ("python", "f.py", "x = 'a  b'\n", "x = 'a b'\n"),
        ("python", "f.py", "x = a - -b\n", "x = a --b + 0\n"),
        ("javascript", "f.js", "x = [1,,]\n", "x = [1,]\n"),
        ("rust", "f.rs", "fn f() -> i32 { 1 }\n", "fn f() -> i32 { 1; }\n"),
        ("c", "f.c", "#define F(x) x\n", "#define F (x) x\n"),
        ("ruby", "f.rb", "foo -1\n", "foo - 1\n"),
        ("go", "f.go", "package a\nvar x = `a\n b`\n", "package a\nvar x = `a\n  b`\n"),
    ],
)
def test_different_meaning_stays_different(language: str, path: str, one: str, other: str) -> None:
    assert canonical(language, path, one) != canonical(language, path, other)


@pytest.mark.parametrize(
    ("language", "path", "one", "other"),
    [
        ("python", "f.py", "f(a,\n  b,)\n", "f(a, b)\n"),
        ("python", "f.py", "x = 'a'; y = 1\n", 'x = "a"\ny = 1\n'),
        ("python", "f.py", "if a: b\n", "if a:\n\tb\n"),
        ("python", "f.py", "def f():\n    '''doc'''\n", "def f(): pass\n"),
        ("typescript", "f.ts", "let x = 1;\nf(x)\n", "let x = 1\nf( x );\n"),
        ("go", "f.go", "package a\nfunc f() { a(); b() }\n", "package a\n\nfunc f() {\n\ta()\n\tb()\n}\n"),
        ("java", "F.java", "class F { int a ( ) { return b ; } }", "class F\n{\n  int a() {\n    return b;\n  }\n}\n"),
        ("cpp", "f.cpp", "int f()\n{\n  return 1;\n}\n", "int f() { return 1; }\n"),
    ],
)
def test_equal_meaning_becomes_equal(language: str, path: str, one: str, other: str) -> None:
    assert canonical(language, path, one) == canonical(language, path, other)


def test_file_that_cannot_be_parsed_loses_comments_and_blank_lines_only() -> None:
    assert list(canonical("c", "f.c", "int f( {\n\n  x   = 1; // one\n")) == ["int f( {", "  x   = 1;"]
    assert list(canonical("python", "f.cfg", "[a]\n\nb  =  1\n")) == ["[a]", "b  =  1"]
    text = "x = " + "(" * 2000 + "1" + ")" * 2000 + "\n"
    assert list(canonical("python", "f.py", text)) == [text.rstrip()]
