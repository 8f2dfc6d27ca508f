import pytest

from assay.instances.audit.code import drop_docstrings, is_distinctive, mask_strings, names_defined, tokens
from tables import read_tables

TABLES = read_tables(__file__)


@pytest.mark.parametrize(
    ("line", "language", "distinctive"),
    [
        ("", "python", False),
        ("    return None", "python", False),
        ("    else:", "python", False),
        ("# total = price * count", "python", False),
        ("from decimal import Decimal, getcontext", "python", False),
        ('    "a message of several words",', "python", False),
        ("    }", "java", False),
        ("    } else {", "java", False),
        ("// total = price * count;", "java", False),
        (" * @param total the sum of all", "java", False),
        ("import java.util.concurrent.atomic.AtomicLong;", "java", False),
        ("#include <string.h>", "c", False),
        ('\t"fmt"', "go", False),
        ("use std::collections::HashMap;", "rust", False),
        ("const fs = require('node:fs')", "javascript", False),
        ("x = 1", "python", False),
        ("    return left + right", "python", True),
        ("total = price * count  # with tax", "python", True),
        ("if (total > limit) {", "java", True),
        ("#define MAX_TOTAL (1 << 20)", "c", True),
        ("*total = price * count;", "c", True),
        ("if total := sum(prices); total > limit {", "go", True),
    ],
)
def test_lines_of_a_fix_are_distinctive_and_those_of_any_program_not(
    line: str, language: str, *, distinctive: bool
) -> None:
    assert is_distinctive(line, language) is distinctive


def test_tokens_ignore_white_space_and_kinds_of_quotes() -> None:
    assert tokens("a = f( 'x' )") == tokens('a=f("x")')


CODE = ["    limit = int(text)", "    if limit is not None and limit > most:", "        raise ValueError(text)"]
PROSE = ["    limit : int, optional (default=3)", "        The number of calls after which nothing is kept."]


@pytest.mark.parametrize(
    ("language", "lines", "left"),
    [
        (
            "python",
            ["def f():", '    """Say what.', "", "    x = 1 in prose", '    """', "    return g()"],
            ["def f():", "", "", "", "", "    return g()"],
        ),
        ("python", ["    More of a text above.", '    """', "    return g()"], ["", "", "    return g()"]),
        ("python", ["    More of a text above.", '    and here."""', "    return g()"], ["", "", "    return g()"]),
        ("python", PROSE, ["", ""]),
        ("python", ["    >>> add(1, 2)", "    3"], ["", ""]),
        ("python", CODE, CODE),
        ("python", [*CODE, *CODE, "    The limit is read from the text of the call."], [*CODE, *CODE, ""]),
        ("ruby", ['"""', "x"], ['"""', "x"]),
    ],
)
def test_docstrings_are_emptied_wherever_a_fragment_begins(language: str, lines: list[str], left: list[str]) -> None:
    assert list(drop_docstrings(lines, language)) == left


def test_masked_line_keeps_its_length() -> None:
    line = """print("if a == b", 'it\\'s', c)  # a < b"""
    assert len(mask_strings(line, "python")) == len(line)
    assert mask_strings(line, "python").split() == ["print(", ",", ",", "c)"]
    assert mask_strings("f(a); // a < b", "go").rstrip() == "f(a);"


@pytest.mark.parametrize(("language", "line", "name"), TABLES["names_that_a_line_of_every_language_defines"])
def test_names_that_a_line_of_every_language_defines(language: str, line: str, name: str | None) -> None:
    assert names_defined(line, language) == ((name,) if name else ())
