"""The syntax trees of files, for the tools that read them."""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from assay.harness import languages
from assay.harness.languages import Language, load_grammar
from assay.harness.syntax import language_of

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Tree


def parse(language: str, path: str, text: str) -> "tuple[Language, Tree] | None":
    """Return the language of a file and its syntax tree; None if the file is in no language that is known.

    Args:
        language: name of the project's language; a file of another known language is read as what it is.
        path: of the file.
        text: its content.

    Raises:
        UserError: there is no language of that name. PluginError: its grammar is not installed.
    """
    known = language_of(path, language)
    if known is None:
        return None
    return known, _parser(known.NAME, PurePosixPath(path).suffix).parse(text.encode(errors="replace"))


@lru_cache(maxsize=64)
def _parser(name: str, suffix: str) -> "Parser":
    from tree_sitter import Parser

    return Parser(load_grammar(languages.find(name), f"any{suffix}"))


def walk(node: "Node") -> "Iterator[Node]":
    """Yield a node and all below it, in order of the text, the outer before the inner."""
    waiting = [node]
    while waiting:
        each = waiting.pop()
        yield each
        waiting.extend(reversed(each.children))


def text_of(node: "Node") -> str:
    """Return the source of a node."""
    return (node.text or b"").decode(errors="replace")


def first_mistake(root: "Node") -> "Node | None":
    """Return the first node that does not parse, or that is missing; None if the text parses.

    Spaces behind an ``#include`` are none, though the grammars of C and C++ miss the end of the line there.
    """
    if not root.has_error:
        return None
    wrong = (each for each in walk(root) if each.is_error or each.is_missing)
    return next((each for each in wrong if not each.type.startswith("preproc_include")), None)


def is_comment(node: "Node") -> bool:
    """Tell whether a node is a comment, in any language."""
    return "comment" in node.type
