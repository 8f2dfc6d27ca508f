"""What is asked of the nodes of syntax trees, in every language; ``harness.syntax`` makes the trees."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node


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
