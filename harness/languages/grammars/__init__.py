"""What languages' modules say of their grammars: one TOML table each, as ``base.Syntax`` and ``base.Lines`` have it."""

from typing import Any

from pydantic import TypeAdapter

from assay.harness.languages.base import Lines, Syntax
from assay.harness.templates import read_table

PIECES = {"equal", "known"}
"""Patterns that a table may have in pieces, for short lines."""
CONDITIONS = {
    "in_parentheses": r"(\s*(?:\}\s*else\s+)?(?:if|while)\s*\()(.+)(\)\s*\{?\s*)",
    "before_brace": r"(\s*(?:\}\s*else\s+)?if )((?!let\b)[^;]+)( \{\s*)",
}
"""Names for ``condition`` where languages have the same one."""
LINES, SYNTAX = TypeAdapter(Lines), TypeAdapter(Syntax)


def read_lines(language: str) -> Lines:
    lines = read_table(__file__, f"{language}.toml")["lines"]
    lines["condition"] = CONDITIONS.get(lines["condition"], lines["condition"])
    return LINES.validate_python(lines)


def read_syntax(language: str) -> Syntax:
    return SYNTAX.validate_python(_read_table(language))


def _read_table(language: str) -> dict[str, Any]:
    """Read a table; assertions that are ``like`` those of another language have all of its fields but their own."""
    table = read_table(__file__, f"{language}.toml")
    del table["lines"]
    for part in (each for each in table.values() if isinstance(each, dict)):
        part |= {name: "".join(part[name]) for name in PIECES & part.keys()}
    if like := table["asserting"].pop("like", ""):
        table["asserting"] = _read_table(like)["asserting"] | table["asserting"]
    return table
