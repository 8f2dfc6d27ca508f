import pytest

from assay.instances.audit.code import drop_docstrings, is_distinctive, mask_strings, tokens


@pytest.mark.parametrize(
    ("line", "language"),
    [
        ("", "python"),
        ("    return None", "python"),
        ("    else:", "python"),
        ("# total = price * count", "python"),
        ("from decimal import Decimal, getcontext", "python"),
        ('    "a message of several words",', "python"),
        ("    }", "java"),
        ("    } else {", "java"),
        ("// total = price * count;", "java"),
        (" * @param total the sum of all", "java"),
        ("import java.util.concurrent.atomic.AtomicLong;", "java"),
        ("#include <string.h>", "c"),
        ('\t"fmt"', "go"),
        ("use std::collections::HashMap;", "rust"),
        ("const fs = require('node:fs')", "javascript"),
        ("x = 1", "python"),
    ],
)
def test_lines_of_any_program_are_not_distinctive(line: str, language: str) -> None:
    assert not is_distinctive(line, language)


@pytest.mark.parametrize(
    ("line", "language"),
    [
        ("    return left + right", "python"),
        ("total = price * count  # with tax", "python"),
        ("if (total > limit) {", "java"),
        ("#define MAX_TOTAL (1 << 20)", "c"),
        ("*total = price * count;", "c"),
        ("if total := sum(prices); total > limit {", "go"),
    ],
)
def test_lines_of_a_fix_are_distinctive(line: str, language: str) -> None:
    assert is_distinctive(line, language)


def test_tokens_ignore_white_space_and_kinds_of_quotes() -> None:
    assert tokens("a = f( 'x' )") == tokens('a=f("x")')


def test_docstrings_are_emptied() -> None:
    lines = ["def f():", '    """Say what.', "", "    x = 1 in prose", '    """', "    return g()"]
    assert list(drop_docstrings(lines, "python")) == ["def f():", "", "", "", "", "    return g()"]


@pytest.mark.parametrize(
    "lines",
    [
        ["    More of a text that began above.", '    """', "    return g()"],
        ["    More of a text that began above.", '    and ends here."""', "    return g()"],
    ],
)
def test_docstring_that_begins_above_the_fragment_is_emptied(lines: list[str]) -> None:
    assert list(drop_docstrings(lines, "python")) == ["", "", "    return g()"]


def test_fragment_inside_a_docstring_is_emptied() -> None:
    prose = ["    limit : int, optional (default=3)", "        The number of calls after which nothing is kept."]
    example = ["    >>> add(1, 2)", "    3"]
    assert set(drop_docstrings(prose, "python")) == set(drop_docstrings(example, "python")) == {""}
    code = ["    limit = int(text)", "    if limit is not None and limit > most:", "        raise ValueError(text)"]
    assert list(drop_docstrings(code, "python")) == code
    mixed = [*code, *code, "    The limit is read from the text of the call."]
    assert list(drop_docstrings(mixed, "python")) == [*code, *code, ""]


def test_triple_quotes_of_other_languages_stay() -> None:
    assert list(drop_docstrings(['"""', "x"], "ruby")) == ['"""', "x"]


def test_masked_line_keeps_its_length() -> None:
    line = """print("if a == b", 'it\\'s', c)  # a < b"""
    assert len(mask_strings(line, "python")) == len(line)
    assert mask_strings(line, "python").split() == ["print(", ",", ",", "c)"]
    assert mask_strings("f(a); // a < b", "go").rstrip() == "f(a);"
