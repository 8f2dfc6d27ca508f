"""Signatures of functions and classes, read from the syntax tree, in every language."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from assay.harness.languages.base import Syntax
from assay.harness.languages.syntax import Definition, parse

if TYPE_CHECKING:
    from tree_sitter import Node


def heads(language: str, path: str, text: str, wanted: Sequence[Definition]) -> list[str]:
    """Return the source of each definition of a file up to its body; all of one that has no body."""
    parsed = parse(language, path, text)
    if parsed is None:
        return []
    lines = text.encode(errors="replace").split(b"\n")
    return [_head(lines, _body(parsed.root, each, parsed.language.SYNTAX), each) for each in wanted]


def _head(lines: Sequence[bytes], body: "Node | None", definition: Definition) -> str:
    kept = list(lines[definition.first - 1 : definition.last])
    if body is not None:
        end = body.start_point
        kept = [*lines[definition.first - 1 : end.row], lines[end.row][: end.column]]
    return b"\n".join(kept).decode(errors="replace").rstrip()


def _body(root: "Node", definition: Definition, syntax: Syntax) -> "Node | None":
    """Return the body of the outermost function or class within the lines of a definition."""
    types = syntax.functions | syntax.classes | syntax.function_values | syntax.class_values
    inside = (node for node in _within(root, definition.first - 1, definition.last - 1) if node.type in types)
    for node in inside:
        body = node.child_by_field_name("body")
        body = body or next((each for each in node.children if each.type in syntax.bodies), None)
        if body is not None:
            return body
    return None


def _within(node: "Node", first: int, last: int) -> "Iterator[Node]":
    """Yield the nodes entirely within these rows, outer before inner."""
    for child in node.named_children:
        if child.end_point.row < first or child.start_point.row > last:
            continue
        if child.start_point.row >= first and child.end_point.row <= last:
            yield child
        yield from _within(child, first, last)
