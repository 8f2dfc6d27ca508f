"""What one test needs of its file: the test, with changes of its text, its imports, helpers and fixtures, and no other.

All is done on the text, so that a person finds the developers' own lines again.
"""

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_FRAME = ("setup", "teardown", "pytest_")
_FRAME_NAMES = frozenset({"pytestmark"})


@dataclass(frozen=True, slots=True, order=True)
class Change:
    """Another text in place of a file's characters from ``start`` to ``end``."""

    start: int
    end: int
    new: str


@dataclass(frozen=True, slots=True)
class Source:
    """A file's text and syntax tree; raises SyntaxError for what this Python cannot read."""

    text: str
    tree: ast.Module
    starts: Sequence[int] = field(repr=False)

    @classmethod
    def read(cls, text: str) -> "Source":
        """Parse a text."""
        starts = [0]
        for line in text.split("\n"):
            starts.append(starts[-1] + len(line) + 1)
        return cls(text, ast.parse(text), starts)

    def place(self, line: int, column: int) -> int:
        """Return the offset of a line (from 1) and a column in characters."""
        return self.starts[line - 1] + column

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return the offsets of a node's first character and of the one after its last."""
        first, last = getattr(node, "lineno", 1), getattr(node, "end_lineno", None) or 1
        start = self.starts[first - 1] + self._characters(first, getattr(node, "col_offset", 0))
        return start, self.starts[last - 1] + self._characters(last, getattr(node, "end_col_offset", None) or 0)

    def segment(self, node: ast.AST) -> str:
        """Return a node's text."""
        start, end = self.span(node)
        return self.text[start:end]

    def lines_of(self, node: ast.AST) -> tuple[int, int]:
        """Return the first line of a statement, its decorators included, and the last."""
        first = min([getattr(node, "lineno", 1), *(each.lineno for each in getattr(node, "decorator_list", []))])
        return first, getattr(node, "end_lineno", None) or first

    def indent(self, node: ast.AST) -> str | None:
        """Return what stands before a node in its line; None if that is more than space."""
        start = self.span(node)[0]
        before = self.text[self.starts[getattr(node, "lineno", 1) - 1] : start]
        return before if not before.strip() else None

    def is_alone(self, node: ast.AST) -> bool:
        """Tell whether a statement has its lines for itself."""
        end = self.span(node)[1]
        after = self.text[end : self.starts[self.lines_of(node)[1]] - 1].strip()
        return self.indent(node) is not None and (not after or after.startswith("#"))

    def _characters(self, line: int, width: int) -> int:
        row = self.text[self.starts[line - 1] : self.starts[line] - 1]
        return len(row.encode()[:width].decode(errors="replace"))


def changed(text: str, changes: Iterable[Change], start: int = 0, end: int | None = None) -> str:
    """Return a part of a text with the changes inside it made; of two that overlap, the one that begins first."""
    at, out, last = start, [], len(text) if end is None else end
    for each in sorted(changes):
        if at <= each.start and each.end <= last:
            out += [text[at : each.start], each.new]
            at = each.end
    return "".join(out) + text[at:last]


def function_at(tree: ast.Module, names: Sequence[str]) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """Return the function that a name like ``Class.test`` leads to, the last where there are several."""
    body: Sequence[ast.stmt] = tree.body
    for name in names[:-1]:
        classes = [node for node in body if isinstance(node, ast.ClassDef) and node.name == name]
        if not classes:
            return None
        body = classes[-1].body
    found = [node for node in body if isinstance(node, FUNCTIONS) and node.name == names[-1]]
    return found[-1] if found else None


def excerpt(source: Source, names: Sequence[str], changes: Collection[Change], everything: bool = False) -> str:
    """Return the text of a file with one test only and what it needs.

    Args:
        source: the file.
        names: of the test, classes around it first.
        changes: made on the way.
        everything: leave out nothing but other tests.
    """
    is_kept = _kept(names)
    needed = None if everything else _needed(source.tree, is_kept)
    pieces = []
    for node in source.tree.body:
        if _is_docstring(node, source.tree.body) or not is_kept(node, ()):
            continue
        if needed is None or _is_needed(node, needed):
            pieces.append(_piece(source, node, changes, (), is_kept, needed))
    return _joined(pieces)


_Kept = Callable[[ast.AST, tuple[str, ...]], bool]


def _kept(names: Sequence[str]) -> _Kept:
    """Return what tells whether a statement inside classes of some names stays, if it is needed at all."""
    wanted = tuple(names)

    def is_kept(node: ast.AST, inside: tuple[str, ...]) -> bool:
        is_test = isinstance(node, FUNCTIONS) and node.name.startswith("test")
        return not is_test or (*inside, getattr(node, "name", "")) == wanted

    return is_kept


def _needed(tree: ast.Module, is_kept: _Kept) -> set[str]:
    """Return the names of the top level that the test hangs on, directly or not."""
    binding = {id(node): _bound(node) for node in tree.body}
    is_test = [node for node in tree.body if _has_test(node, is_kept)]
    needed: set[str] = set()
    pending: list[ast.stmt] = [*is_test, *(node for node in tree.body if _is_frame(node))]
    done: set[int] = set()
    while pending:
        node = pending.pop()
        if id(node) in done:
            continue
        done.add(id(node))
        needed |= binding[id(node)] if node in is_test else set()
        needed |= set(_used(node, is_kept))
        pending += [each for each in tree.body if binding[id(each)] & needed and id(each) not in done]
    return needed


def _has_test(node: ast.AST, is_kept: _Kept, inside: tuple[str, ...] = ()) -> bool:
    if isinstance(node, FUNCTIONS):
        return node.name.startswith("test") and is_kept(node, inside)
    if isinstance(node, ast.ClassDef):
        return any(_has_test(each, is_kept, (*inside, node.name)) for each in node.body)
    return False


def _is_needed(node: ast.stmt, needed: set[str]) -> bool:
    return _is_frame(node) or bool(_bound(node) & needed)


def _is_frame(node: ast.stmt) -> bool:
    """Tell whether a statement works on its own: hooks, marks, fixtures of all tests, calls for their effect."""
    if isinstance(node, FUNCTIONS):
        return node.name.startswith(_FRAME) or any("autouse" in ast.dump(each) for each in node.decorator_list)
    if isinstance(node, ast.ImportFrom) and node.module == "__future__":
        return True
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return bool(_bound(node) & _FRAME_NAMES)
    return not _bound(node) and not isinstance(node, ast.Import | ast.ImportFrom | ast.ClassDef)


def _bound(node: ast.stmt) -> set[str]:
    """Return the names that a statement of the top level gives to the module."""
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        return {node.name}
    found = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            found.add(each.id)
        elif isinstance(each, ast.alias):
            found.add(each.asname or each.name.partition(".")[0])
        elif isinstance(each, (*FUNCTIONS, ast.ClassDef)):
            found.add(each.name)
    return found


def _used(node: ast.AST, is_kept: _Kept, inside: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the names that a statement uses, but for what is left out of it."""
    if isinstance(node, ast.ClassDef):
        for each in [*node.decorator_list, *node.bases, *node.keywords]:
            yield from _words(each)
        for member in node.body:
            if is_kept(member, (*inside, node.name)):
                yield from _used(member, is_kept, (*inside, node.name))
        return
    yield from _words(node)


def _words(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            yield each.id
        elif isinstance(each, ast.arg):
            yield each.arg  # a fixture's name
        elif isinstance(each, ast.Constant) and isinstance(each.value, str) and each.value.isidentifier():
            yield each.value  # usefixtures("name"), request.getfixturevalue("name")


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    is_block: bool
    first: int
    last: int


def _piece(
    source: Source,
    node: ast.stmt,
    changes: Collection[Change],
    inside: tuple[str, ...],
    is_kept: _Kept,
    needed: set[str] | None,
) -> _Piece:
    first, last = source.lines_of(node)
    start, end = source.starts[first - 1], source.starts[last] - 1
    is_block = isinstance(node, (*FUNCTIONS, ast.ClassDef))
    if isinstance(node, ast.ImportFrom) and needed is not None and node.module != "__future__":
        text = _import(node, needed)
    elif isinstance(node, ast.ClassDef) and source.lines_of(node.body[0])[0] > node.lineno:
        text = _class(source, node, changes, inside, is_kept)
    else:
        text = changed(source.text, changes, start, end)
    return _Piece(text, is_block, first, last)


def _class(
    source: Source, node: ast.ClassDef, changes: Collection[Change], inside: tuple[str, ...], is_kept: _Kept
) -> str:
    start, below = source.starts[source.lines_of(node)[0] - 1], source.lines_of(node.body[0])[0]
    within = (*inside, node.name)
    kept = [each for each in node.body if is_kept(each, within)]
    pieces = [_piece(source, each, changes, within, is_kept, None) for each in kept]
    body = _joined(pieces, apart=1) or " " * (node.col_offset + 4) + "pass"
    return changed(source.text, changes, start, source.starts[below - 1] - 1) + "\n" + body


def _import(node: ast.ImportFrom, needed: Collection[str]) -> str:
    names = [each for each in node.names if (each.asname or each.name) in needed or each.name == "*"]
    told = ", ".join(each.name + (f" as {each.asname}" if each.asname else "") for each in names)
    return f"from {'.' * node.level}{node.module or ''} import {told}"


def _joined(pieces: Sequence[_Piece], apart: int = 2) -> str:
    """Put pieces below one another; those that shared lines are one."""
    out, before = "", None
    for piece in pieces:
        if before is not None and piece.first <= before.last:
            continue
        if before is not None:
            gap = apart if piece.is_block or before.is_block else min(1, piece.first - before.last - 1)
            out += "\n" * (gap + 1)
        out += piece.text
        before = piece
    return out


def _is_docstring(node: ast.stmt, body: Sequence[ast.stmt]) -> bool:
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    return node is body[0] and is_text


def in_order(function: ast.AST) -> list[ast.stmt]:
    """Return all statements of a function, outer ones first, those of functions inside it left out."""
    found: list[ast.stmt] = []
    for name in ("body", "handlers", "orelse", "finalbody", "cases"):
        for each in getattr(function, name, None) or []:
            if isinstance(each, ast.stmt):
                found.append(each)
            if not isinstance(each, (*FUNCTIONS, ast.ClassDef)):
                found += in_order(each)
    return found


def blocks(function: ast.AST) -> Mapping[int, Sequence[ast.stmt]]:
    """Return for each statement of a function, by identity, the block that it stands in."""
    found: dict[int, Sequence[ast.stmt]] = {}
    for holder in [function, *ast.walk(function)]:
        for name in ("body", "orelse", "finalbody"):
            block = getattr(holder, name, None)
            if isinstance(block, list):
                found.update({id(each): block for each in block})
    return found
