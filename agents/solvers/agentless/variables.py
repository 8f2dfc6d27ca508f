"""Find where variables, constants and fields are assigned, in every language."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.agents.solvers.shared.syntax_nodes import is_comment, read_source, walk
from assay.harness.languages.syntax import Definition, parse

if TYPE_CHECKING:
    from tree_sitter import Node


def variable_lines(
    name: str, known: Sequence[Definition], language: str, path: str, text: str
) -> list[tuple[int, int]]:
    """Return the lines of the first statement outside of all functions that assigns a name; empty if there is none.

    ``name`` is a variable, ``v``, or a field, ``Class.v``.
    """
    parsed = parse(language, path, text)
    if parsed is None:
        return []
    owner, _, bare = name.strip().lstrip("$@").rpartition(".")
    classes = [each for each in known if each.kind == "class" and owner and f".{each.name}".endswith(f".{owner}")]
    functions = [each for each in known if each.kind == "function"]
    for leaf in walk(parsed.root):
        if leaf.child_count or read_source(leaf).lstrip("$@") != bare:
            continue
        line = leaf.start_point.row + 1
        is_inside = not classes or any(each.first <= line <= each.last for each in classes)
        if is_inside and not any(each.first <= line <= each.last for each in functions):
            statement = _statement(leaf)
            if statement is not None:
                end = statement.end_point
                return [(statement.start_point.row + 1, end.row + (end.column > 0))]
    return []


IMPORTS = ("import", "use_declaration", "preproc_include", "package", "require", "namespace_use")


def _statement(leaf: "Node") -> "Node | None":
    """Return the statement or declaration around a leaf; None for a comment or an import."""
    node = leaf
    while node.parent is not None and node.parent.type not in HOLDERS:
        node = node.parent
        if is_comment(node) or node.type.startswith(IMPORTS):
            return None
    return node


HOLDERS = frozenset(
    {
        *("module", "program", "source_file", "translation_unit", "block", "class_body", "interface_body", "enum_body"),
        *("declaration_list", "field_declaration_list", "body_statement", "object_type", "export_statement"),
        *("enum_body_declarations", "preproc_ifdef", "preproc_if", "linkage_specification"),
    }
)
