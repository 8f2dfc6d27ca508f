"""What the code of a file calls and inherits from, by name: read from its syntax tree. Pure.

A name is all that a syntax tree tells: which definition it means is guessed by ``graph``.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from assay.harness.languages.syntax import Parsed

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Query

CALLED = "(call_expression function: (_) @calls)"
MADE = "(new_expression constructor: (_) @calls)"
QUERIES = {
    "python": """(call function: (_) @calls)
        (class_definition superclasses: (argument_list (_) @inherits))""",
    "java": """(method_invocation name: (_) @calls) (object_creation_expression type: (_) @calls)
        (superclass (_) @inherits) (super_interfaces (type_list (_) @inherits))
        (extends_interfaces (type_list (_) @inherits))""",
    "javascript": f"{CALLED} {MADE} (class_heritage (_) @inherits)",
    "typescript": f"""{CALLED} {MADE} (extends_clause value: (_) @inherits) (implements_clause (_) @inherits)
        (extends_type_clause (_) @inherits)""",
    "go": f"{CALLED} (field_declaration !name type: (_) @inherits) (interface_type (type_elem (_) @inherits))",
    "rust": f"""{CALLED} (macro_invocation macro: (_) @calls) (impl_item trait: (_) @inherits)
        (trait_item bounds: (trait_bounds (_) @inherits))""",
    "c": CALLED,
    "cpp": f"""{CALLED} (new_expression type: (_) @calls)
        (base_class_clause [(type_identifier) (template_type) (qualified_identifier)] @inherits)""",
    "php": """(function_call_expression function: (_) @calls) (member_call_expression name: (_) @calls)
        (scoped_call_expression name: (_) @calls) (object_creation_expression (name) @calls)
        (base_clause (_) @inherits) (class_interface_clause (_) @inherits)""",
    "ruby": "(call method: (_) @calls) (call receiver: (constant) @calls) (superclass (_) @inherits)",
}
"""Language to what to look for. Go embeds where others inherit; a call of Ruby names a class by its receiver."""

_LAST_NAME = re.compile(r"([^\W\d][\w$]*[?!]?)\s*$")
_ARGUMENTS = re.compile(r"[\[<(].*", re.DOTALL)
_TYPE_ARGUMENTS = re.compile(r"<[^()]*>$")


@dataclass(frozen=True, slots=True)
class Mention:
    """A name that the code of a file calls or inherits from, and the line, from 1, where it does."""

    relation: Literal["calls", "inherits"]
    name: str
    line: int


def mentions(parsed: Parsed) -> tuple[Mention, ...]:
    """Return what the code of a syntax tree calls and inherits from, in order of the text.

    What does not parse is passed over.
    """
    if parsed.language.NAME not in QUERIES:
        return ()
    from tree_sitter import QueryCursor

    captured = QueryCursor(_query(parsed.language.NAME, parsed.grammar)).captures(parsed.root)
    found = [
        (node.start_byte, Mention(_relation(capture), name, node.end_point.row + 1))
        for capture, nodes in captured.items()
        for node in nodes
        if (name := _name((node.text or b"").decode(errors="replace"), capture))
    ]
    return tuple(mention for _, mention in sorted(found, key=lambda each: (each[0], each[1].name)))


@lru_cache(maxsize=64)
def _query(name: str, grammar: "Grammar") -> "Query":
    from tree_sitter import Query

    return Query(grammar, QUERIES[name])


def _relation(capture: str) -> Literal["calls", "inherits"]:
    return "calls" if capture == "calls" else "inherits"


def _name(written: str, capture: str) -> str:
    """Return the last name of what is written, ``send`` of ``self.client().send``; empty if it ends in none."""
    if capture == "inherits":  # type arguments name no base, nor do keyword arguments such as a metaclass
        written = "" if "=" in written else _ARGUMENTS.sub("", written)
    match = _LAST_NAME.search(_TYPE_ARGUMENTS.sub("", written))
    return match[1] if match else ""
