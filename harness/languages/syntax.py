"""The syntax tree of a source file, and the functions and classes in it and where they lie: in every language.

What defines something is for the languages to say (``languages.base.Syntax``); how a definition spells its name is
told by the fields that grammars share.
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
"""Fields in which a node keeps the name that it gives to a value."""
FORWARDED_BY = ("declarator", "type", "name")
"""Fields that lead to the name through what stands around it: pointers, references, type arguments."""
WITHOUT_BODY = frozenset({"struct_specifier", "union_specifier", "enum_specifier", "class_specifier"})
"""Also stand where a type is only mentioned; they define it where they have a body."""
QUOTES = frozenset("['\"`")
NO_NAME = frozenset("{};")
KEYWORDS = frozenset({"namespace", "class", "struct", "union", "enum", "template", "if", "for", "while", "switch"})
"""Of C++: no function is called so."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A function or a class of a file.

    ``name`` is qualified and dotted, ``Outer.method``; ``node`` is the grammar's type of what defines it. Lines count
    from 1; both belong to it, and so do its decorators.
    """

    kind: Kind
    name: str
    node: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Parsed:
    """The syntax tree of a file, by its root, with the language and the grammar that it was read in."""

    language: Language
    grammar: "Grammar"
    root: "Node"


def language_of(path: str, language: str) -> Language | None:
    """Return the language of a file of a project: the project's own, or that whose files are named so; None if none.

    Args:
        path: of the file.
        language: name of the project's language, which decides where two share a suffix.

    Raises:
        UserError: there is no language of that name.
    """
    suffix = PurePosixPath(path).suffix
    candidates = (languages.find(language), *LANGUAGES.values())
    return next((each for each in candidates if suffix in each.SUFFIXES), None)


def parse(language: str, path: str, text: str) -> Parsed | None:
    """Return the syntax tree of a file; None if the file is in no language that is known.

    Args:
        language: name of the project's language; a file of another known language is read as what it is.
        path: of the file, which tells its language and the grammar.
        text: its content; what does not parse is marked in the tree.

    Raises:
        UserError: there is no language of that name. PluginError: its grammar is not installed.
    """
    known = language_of(path, language)
    if known is None:
        return None
    from tree_sitter import Parser

    grammar = _grammar(known.NAME, PurePosixPath(path).suffix)
    parser = Parser(grammar)  # of its own for every text: a parser keeps a state, and several threads read files
    return Parsed(known, grammar, parser.parse(text.encode(errors="replace")).root_node)


def definitions(language: str, path: str, text: str) -> tuple[Definition, ...]:
    """Return the functions and classes of a file, in order of their lines, the outer before the inner.

    Text that does not parse gives what can be read of it; a file that is not code gives nothing.

    Args:
        language: name of the project's language; a file of another known language is read as what it is.
        path: of the file, which tells its language and the grammar.
        text: its content.

    Raises:
        UserError: there is no language of that name. PluginError: its grammar is not installed.
    """
    parsed = parse(language, path, text)
    return definitions_in(parsed) if parsed else ()


def definitions_in(parsed: Parsed) -> tuple[Definition, ...]:
    """Return the functions and classes in a syntax tree, in order of their lines, the outer before the inner."""
    found = _defining_nodes(parsed)
    return tuple(sorted(_qualified(parsed.language, found), key=lambda each: (each.first, -each.last)))


def innermost(found: Sequence[Definition], line: int) -> Definition | None:
    """Return the smallest of these definitions that a line belongs to; None for a line outside of all.

    Args:
        found: as ``definitions`` gives them.
        line: counted from 1.
    """
    around = [each for each in found if each.first <= line <= each.last]
    return min(reversed(around), key=lambda each: each.last - each.first, default=None)


@lru_cache(maxsize=64)
def _grammar(name: str, suffix: str) -> "Grammar":
    return load_grammar(languages.find(name), f"any{suffix}")


@lru_cache(maxsize=64)
def _query(name: str, grammar: "Grammar") -> "Query":
    """Return the query for what defines something in files of a language."""
    from tree_sitter import Query

    syntax = languages.find(name).SYNTAX
    captures = {
        "function": syntax.functions | syntax.function_values,
        "class": syntax.classes | syntax.class_values,
        "scope": syntax.scopes,
    }
    patterns = (f"[{' '.join(f'({each})' for each in sorted(types))}] @{name}" for name, types in captures.items())
    return Query(grammar, "\n".join(each for each in patterns if not each.startswith("[]")))


def _defining_nodes(parsed: Parsed) -> "list[tuple[str, Node]]":
    """Return what defines something, in order of the text, the outer before the inner."""
    from tree_sitter import QueryCursor

    captured = QueryCursor(_query(parsed.language.NAME, parsed.grammar)).captures(parsed.root)
    found = [(kind, node) for kind, nodes in captured.items() for node in nodes]
    return sorted(found, key=lambda each: (each[1].start_byte, -each[1].end_byte))


def _qualified(language: Language, found: "Iterable[tuple[str, Node]]") -> Iterator[Definition]:
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
    """Return the node that gives a name to a function or class that is written as a value."""
    parent = value.parent
    return parent if parent and parent.type in syntax.givers else None


def _name(node: "Node") -> str:
    """Return how a definition spells its name, dotted; empty if it has none."""
    if node.type == "impl_item":
        return _spelled(node.child_by_field_name("type"))
    if node.type == "export_statement":
        return "default"
    named = (node.child_by_field_name(field) for field in NAMED_BY)
    found = next((each for each in named if each is not None), None) or _typedef_name(node)
    name = _spelled(found)
    return "" if _misread(node, name) else name


def _misread(node: "Node", name: str) -> bool:
    """Tell whether a parser lost its way: macros of C and C++ can make it take other code for a name."""
    if node.type != "function_definition":
        return bool({*name} & NO_NAME)
    declarator = node.child_by_field_name("declarator")
    takes_nothing = declarator is not None and b"(" not in (declarator.text or b"")
    return takes_nothing or name in KEYWORDS or bool({*name} & NO_NAME)


def _typedef_name(node: "Node") -> "Node | None":
    """Return where ``typedef struct {...} name`` names what it defines."""
    around = node.parent
    return around.child_by_field_name("declarator") if around and around.type == "type_definition" else None


def _receiver(node: "Node") -> str:
    """Return the type that a Go method belongs to; it is not written around the method."""
    receiver = node.child_by_field_name("receiver")
    parameter = receiver.named_child(0) if receiver else None
    return _spelled(parameter.child_by_field_name("type")) if parameter else ""


def _spelled(node: "Node | None") -> str:
    if node is None:
        return ""
    scope = node.child_by_field_name("scope")
    if scope:
        return f"{_spelled(scope)}.{_spelled(node.child_by_field_name('name'))}"
    if node.type == "operator_cast":
        return f"operator {_text(node.child_by_field_name('type'))}"
    inner = (node.child_by_field_name(field) for field in FORWARDED_BY)
    forwarded = next((each for each in inner if each is not None), None)
    if forwarded is None and node.type in {"pointer_type", "parenthesized_declarator", "reference_declarator"}:
        forwarded = node.named_child(node.named_child_count - 1)
    return _spelled(forwarded) if forwarded else _text(node)


def _text(node: "Node | None") -> str:
    written = (node.text or b"").decode(errors="replace") if node else ""
    if written[:1] in QUOTES:  # a computed or quoted member, ['name']
        written = written.strip("[]'\"`")
    return " ".join(written.replace("::", ".").replace("\\", ".").split())


def _lines(node: "Node", language: Language) -> tuple[int, int]:
    """Return the first and the last line of a definition, from 1, with what is written around and before it."""
    first, last = node, node
    if node.parent and node.parent.type in language.SYNTAX.wrappers:
        first = last = node.parent
    while first.prev_named_sibling and first.prev_named_sibling.type in language.SYNTAX.decorators:
        first = first.prev_named_sibling
    return first.start_point.row + 1, last.end_point.row + (last.end_point.column > 0)
