"""The syntax tree of a source file, and the functions and classes in it with their lines, in every language.

Each language lists the node types of definitions (``languages.base.Syntax``); their names are read from fields that the
grammars share.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal

from assay.harness import languages
from assay.harness.languages import LANGUAGES, Language, load_grammar
from assay.harness.languages.base import Syntax

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Node, Query

Kind = Literal["function", "class"]

NAMED_BY = ("name", "key", "left", "property", "declarator")
"""Fields with the name that a node gives to a value."""
FORWARDED_BY = ("declarator", "type", "name")
"""Fields that lead to the name through the nodes around it: pointers, references, type arguments."""
WITHOUT_BODY = frozenset({"struct_specifier", "union_specifier", "enum_specifier", "class_specifier"})
"""Node types that define a type only if they have a body; without one they mention it."""
QUOTES = frozenset("['\"`")
NO_NAME = frozenset("{};")
KEYWORDS = frozenset({"namespace", "class", "struct", "union", "enum", "template", "if", "for", "while", "switch"})
"""Keywords of C++, which no function is named."""
FEWEST_STEPS = 500
BYTES_A_STEP = 20
"""Limit of a parser's steps: 500, and one for each 20 bytes. Files of ten languages took one for 53 bytes or more."""
CHUNK = 65_536


@dataclass(frozen=True, slots=True)
class Definition:
    """A function or a class of a file.

    ``name`` is qualified and dotted, ``Outer.method``; ``node`` is the node type in the grammar. ``first`` and ``last``
    are line numbers from 1, both included, with decorators.
    """

    kind: Kind
    name: str
    node: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Parsed:
    """The root of a file's syntax tree, with the language and the grammar that parsed it."""

    language: Language
    grammar: "Grammar"
    root: "Node"


def find_language(path: str, language: str) -> Language | None:
    """Return the language of a file, or None; of several, the project's own decides. UserError if that is unknown."""
    suffix = PurePosixPath(path).suffix
    candidates = (languages.find(language), *LANGUAGES.values())
    return next((each for each in candidates if suffix in each.SUFFIXES), None)


def parse(language: str, path: str, text: str) -> Parsed | None:
    """Return the syntax tree of a file; None for a file in no known language, or that its grammar cannot cope with.

    The path's suffix decides the grammar: a project's file in another known language is read in that. Parts that do not
    parse are marked in the tree. Raises as ``find_language``.
    """
    known = find_language(path, language)
    if known is None:
        return None
    grammar = _grammar(known.NAME, PurePosixPath(path).suffix)
    root = parse_tree(text.encode(errors="replace"), grammar)
    return Parsed(known, grammar, root) if root else None


def parse_tree(content: bytes, grammar: "Grammar") -> "Node | None":
    """Return the root of the tree; None if it takes many times the usual steps, as broken Kotlin can without an end."""
    from tree_sitter import Parser

    steps = iter(range(FEWEST_STEPS + len(content) // BYTES_A_STEP))
    parser = Parser(grammar)  # one per text: a parser has state, and several threads read files
    try:
        return parser.parse(
            lambda start, _: content[start : start + CHUNK], progress_callback=lambda *_: next(steps, None) is None
        ).root_node
    except ValueError:
        return None


def definitions(language: str, path: str, text: str) -> tuple[Definition, ...]:
    """Return the functions and classes of a file, in order of their lines, the outer before the inner.

    Text that does not parse gives the definitions that can be read; a file that is not code gives none. See ``parse``.
    """
    parsed = parse(language, path, text)
    return list_definitions(parsed) if parsed else ()


def list_definitions(parsed: Parsed) -> tuple[Definition, ...]:
    found = list_defining_nodes(parsed)
    return tuple(sorted(_qualify(parsed.language, found), key=lambda each: (each.first, -each.last)))


def innermost(found: Sequence[Definition], line: int) -> Definition | None:
    """Return the smallest of the ``definitions`` around a line, counted from 1; None for a line outside of all."""
    around = [each for each in found if each.first <= line <= each.last]
    return min(reversed(around), key=lambda each: each.last - each.first, default=None)


@lru_cache(maxsize=64)
def _grammar(name: str, suffix: str) -> "Grammar":
    return load_grammar(languages.find(name), f"any{suffix}")


@lru_cache(maxsize=64)
def _query(name: str, grammar: "Grammar") -> "Query":
    from tree_sitter import Query

    syntax = languages.find(name).SYNTAX
    captures = {
        "function": syntax.functions | syntax.function_values,
        "class": syntax.classes | syntax.class_values,
        "scope": syntax.scopes,
    }
    patterns = (f"[{' '.join(f'({each})' for each in sorted(types))}] @{name}" for name, types in captures.items())
    return Query(grammar, "\n".join(each for each in patterns if not each.startswith("[]")))


def list_defining_nodes(parsed: Parsed) -> "list[tuple[str, Node]]":
    """Return the nodes of definitions, in order of the text, the outer before the inner."""
    from tree_sitter import QueryCursor

    captured = QueryCursor(_query(parsed.language.NAME, parsed.grammar)).captures(parsed.root)
    found = [(kind, node) for kind, nodes in captured.items() for node in nodes]
    return sorted(found, key=lambda each: (each[1].start_byte, -each[1].end_byte))


def _qualify(language: Language, found: "Iterable[tuple[str, Node]]") -> Iterator[Definition]:
    syntax = language.SYNTAX
    values = syntax.function_values | syntax.class_values
    around: list[tuple[int, str]] = []
    for kind, node in found:
        while around and around[-1][0] <= node.start_byte:
            around.pop()
        holder = _holder(node, syntax) if node.type in values else node
        name = _name(holder) if holder else ""
        if not holder or not name or (node.type in WITHOUT_BODY and not node.child_by_field_name("body")):
            continue
        name = ".".join(part for part in (around[-1][1] if around else "", _receiver(node), name) if part)
        around.append((node.end_byte, name))
        if kind != "scope":
            first, last = _lines(holder, language)
            yield Definition("class" if kind == "class" else "function", name, holder.type, first, last)


def _holder(value: "Node", syntax: Syntax) -> "Node | None":
    """Return the node that names a function or class written as an expression."""
    parent = value.parent
    return parent if parent and parent.type in syntax.givers else None


def _name(node: "Node") -> str:
    if node.type == "impl_item":
        return _spell(node.child_by_field_name("type"))
    if node.type == "export_statement":
        return "default"
    named = (node.child_by_field_name(field) for field in NAMED_BY)
    found = next((each for each in named if each is not None), None) or _typedef_name(node)
    name = _spell(found)
    return "" if _misread(node, name) else name


def _misread(node: "Node", name: str) -> bool:
    """Return whether the parser took other code for a name, which macros of C and C++ can cause."""
    if node.type != "function_definition":
        return bool({*name} & NO_NAME)
    declarator = node.child_by_field_name("declarator")
    takes_nothing = declarator is not None and b"(" not in (declarator.text or b"")
    return takes_nothing or name in KEYWORDS or bool({*name} & NO_NAME)


def _typedef_name(node: "Node") -> "Node | None":
    """Return the node of ``name`` in ``typedef struct {...} name``."""
    around = node.parent
    return around.child_by_field_name("declarator") if around and around.type == "type_definition" else None


def _receiver(node: "Node") -> str:
    """Return the receiver type of a Go method, which does not enclose it."""
    receiver = node.child_by_field_name("receiver")
    parameter = receiver.named_child(0) if receiver else None
    return _spell(parameter.child_by_field_name("type")) if parameter else ""


def _spell(node: "Node | None") -> str:
    if node is None:
        return ""
    scope = node.child_by_field_name("scope")
    if scope:
        return f"{_spell(scope)}.{_spell(node.child_by_field_name('name'))}"
    if node.type == "operator_cast":
        return f"operator {_text(node.child_by_field_name('type'))}"
    inner = (node.child_by_field_name(field) for field in FORWARDED_BY)
    forwarded = next((each for each in inner if each is not None), None)
    if forwarded is None and node.type in {"pointer_type", "parenthesized_declarator", "reference_declarator"}:
        forwarded = node.named_child(node.named_child_count - 1)
    return _spell(forwarded) if forwarded else _text(node)


def _text(node: "Node | None") -> str:
    written = (node.text or b"").decode(errors="replace") if node else ""
    if written[:1] in QUOTES:  # a computed or quoted member, ['name']
        written = written.strip("[]'\"`")
    return " ".join(written.replace("::", ".").replace("\\", ".").split())


def _lines(node: "Node", language: Language) -> tuple[int, int]:
    """Return the first and last line of a definition, from 1, with its wrapper and decorators."""
    first, last = node, node
    if node.parent and node.parent.type in language.SYNTAX.wrappers:
        first = last = node.parent
    while first.prev_named_sibling and first.prev_named_sibling.type in language.SYNTAX.decorators:
        first = first.prev_named_sibling
    return first.start_point.row + 1, last.end_point.row + (last.end_point.column > 0)
