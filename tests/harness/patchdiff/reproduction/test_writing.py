import ast

import pytest

from assay.harness.patchdiff.reproduction.writing import Check, escape_docstring, frame


def docstring(check: Check) -> str:
    return ast.get_docstring(ast.parse(frame("pass", check, "Put it anywhere", "It is this:"))) or ""


@pytest.mark.parametrize("text", ['"""', "a\\", "\\N{no}", "x" * 89 + "\\\\", "line\nline", '"' * 200])
def test_any_text_becomes_one_line_of_a_docstring(text: str) -> None:
    line = escape_docstring(text)
    assert "\n" not in line
    assert len(line) <= 90
    (only,) = ast.parse(f'"""{line}"""').body
    assert isinstance(only, ast.Expr)


def test_file_is_python_and_says_what_each_side_shows() -> None:
    said = docstring(Check((("value", "str", "'a\"b'"),), ("error", "ValueError", "")))
    assert "with the gold patch: str" in said
    assert "with the other: error ValueError" in said


def test_long_values_are_shown_from_where_they_differ() -> None:
    long = "x" * 500
    said = docstring(Check((("value", "str", f"{long}a"),), ("value", "str", f"{long}b")))
    assert "xa\n" in said
    assert "xb\n" in said


def test_future_imports_come_first_and_the_test_is_wrapped_last() -> None:
    text = frame("from __future__ import annotations\n\nx = 1", Check(), "Put it", "It", "::A::test[1]", whole=True)
    tree = ast.parse(text)
    assert isinstance(tree.body[1], ast.ImportFrom)
    assert tree.body[1].module == "__future__"
    assert ast.unparse(tree.body[-1]) == "A.test = AssayLook()(A.test)"
