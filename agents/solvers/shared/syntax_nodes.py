"""Helpers for the nodes of syntax trees, in every language; ``harness.languages.syntax`` parses."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node


def walk(node: "Node") -> "Iterator[Node]":
    """Yield a node and its descendants in text order, outer before inner."""
    waiting = [node]
    while waiting:
        each = waiting.pop()
        yield each
        waiting.extend(reversed(each.children))


def read_source(node: "Node") -> str:
    return (node.text or b"").decode(errors="replace")


def first_mistake(root: "Node") -> "Node | None":
    """Return the first erroneous or missing node; None if the text parses.

    The grammars of C and C++ miss the end of a line behind an ``#include``, Kotlin's that of a member before a bracket.
    """
    if not root.has_error:
        return None
    wrong = (each for each in walk(root) if each.is_error or each.is_missing)
    return next((each for each in wrong if not each.type.startswith(("preproc_include", "_class_member_semi"))), None)


def is_comment(node: "Node") -> bool:
    return "comment" in node.type
