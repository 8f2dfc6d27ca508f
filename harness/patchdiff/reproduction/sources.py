"""A test file's text with one of its tests left in it. Works on the text, so that a person finds the lines again."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True, order=True)
class TextChange:
    """Another text in place of the characters from ``start`` to ``end``."""

    start: int
    end: int
    new: str


@dataclass(frozen=True, slots=True)
class Source:
    """A file's text and syntax tree."""

    text: str
    tree: ast.Module
    starts: Sequence[int]
    """Offsets of lines' beginnings, and one more for the end."""

    @classmethod
    def read(cls, text: str) -> "Source":
        """Parse a text; raises SyntaxError for what this Python cannot read."""
        starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
        return cls(text, ast.parse(text), starts)

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return the offsets of a node's first character and of the one after its last."""
        first, last = getattr(node, "lineno", 1), getattr(node, "end_lineno", None) or 1
        start = self.starts[first - 1] + self._characters(first, getattr(node, "col_offset", 0))
        return start, self.starts[last - 1] + self._characters(last, getattr(node, "end_col_offset", None) or 0)

    def segment(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self.text[start:end]

    def indent(self, node: ast.AST) -> str | None:
        """Return the space before a node in its line; None if there is more than space."""
        before = self.text[self.starts[getattr(node, "lineno", 1) - 1] : self.span(node)[0]]
        return before if not before.strip() else None

    def _characters(self, line: int, width: int) -> int:
        row = self.text[self.starts[line - 1] : self.starts[line] - 1]
        return len(row.encode()[:width].decode(errors="replace"))


def apply_changes(text: str, changes: Iterable[TextChange]) -> str:
    """Apply changes to a text; of two that overlap, the one that begins first."""
    at, out = 0, []
    for each in sorted(changes):
        if at <= each.start:
            out += [text[at : each.start], each.new]
            at = each.end
    return "".join(out) + text[at:]


def find_function(tree: ast.Module, names: Sequence[str]) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """Return the function that a name like ``Class.test`` leads to; the last of several."""
    body: Sequence[ast.stmt] = tree.body
    for name in names[:-1]:
        classes = [node for node in body if isinstance(node, ast.ClassDef) and node.name == name]
        body = classes[-1].body if classes else ()
    found = [node for node in body if isinstance(node, FUNCTIONS) and node.name == names[-1]]
    return found[-1] if found else None


def drop_others(source: Source, test: ast.AST) -> Iterator[TextChange]:
    """Yield the changes that remove all tests but one from a file, and its docstring."""
    if ast.get_docstring(source.tree, clean=False) is not None:
        yield TextChange(*source.span(source.tree.body[0]), "")
    bodies = [source.tree.body, *(node.body for node in ast.walk(source.tree) if isinstance(node, ast.ClassDef))]
    for body in bodies:
        tests = (node for node in body if isinstance(node, FUNCTIONS) and node.name.startswith("test"))
        others = [node for node in tests if node is not test]
        for node in others:
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            start, end = source.starts[first - 1], source.starts[node.end_lineno or first] - 1
            is_last = body is not source.tree.body and len(others) == len(body) and node is others[-1]
            if source.indent(node) is not None or first < node.lineno:
                yield TextChange(start, end, " " * node.col_offset + "pass" if is_last else "")
