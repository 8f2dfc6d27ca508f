"""Names that the code of a file calls and inherits from, read from its syntax tree. Pure.

``graph`` guesses the definition of a name.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from assay.harness.languages.syntax import Parsed

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Query

_LAST_NAME = re.compile(r"([^\W\d][\w$]*[?!]?)\s*$")
_ARGUMENTS = re.compile(r"[\[<(].*", re.DOTALL)
_TYPE_ARGUMENTS = re.compile(r"<[^()]*>$")


@dataclass(frozen=True, slots=True)
class Mention:
    """A called or inherited name and its line, counted from 1."""

    relation: Literal["calls", "inherits"]
    name: str
    line: int


def mentions(parsed: Parsed) -> tuple[Mention, ...]:
    """Return the names that a file's code calls and inherits from, in text order.

    Code that does not parse is skipped.
    """
    if not parsed.language.SYNTAX.mentions:
        return ()
    from tree_sitter import QueryCursor

    captured = QueryCursor(_query(parsed.language.SYNTAX.mentions, parsed.grammar)).captures(parsed.root)
    found = [
        (node.start_byte, Mention("calls" if capture == "calls" else "inherits", name, node.end_point.row + 1))
        for capture, nodes in captured.items()
        for node in nodes
        if (name := _name((node.text or b"").decode(errors="replace"), capture))
    ]
    return tuple(mention for _, mention in sorted(found, key=lambda each: (each[0], each[1].name)))


@lru_cache(maxsize=64)
def _query(mentions: str, grammar: "Grammar") -> "Query":
    from tree_sitter import Query

    return Query(grammar, mentions)


def _name(written: str, capture: str) -> str:
    """Return the last name of an expression, ``send`` of ``self.client().send``; empty if it ends in no name."""
    if capture == "inherits":  # type arguments name no base, nor do keyword arguments such as a metaclass
        written = "" if "=" in written else _ARGUMENTS.sub("", written)
    match = _LAST_NAME.search(_TYPE_ARGUMENTS.sub("", written))
    return match[1] if match else ""
