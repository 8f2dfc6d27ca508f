"""Find the changeable parts of a test: not the expected side of an assertion, not the head of a parametrization."""

import ast
import builtins
from collections.abc import Iterator, Sequence
from typing import Any

from . import values
from .brackets import Place, split_lines
from .mutate import ACTION, ASSERTION, LEADING, NOTHING, Argument, Borrowed, Material, Scope, find_bound, find_used

RAISES = frozenset(("raises", "assertRaises", "assertRaisesRegex", "assertRaisesRegexp", "assertRaisesMessage"))
_CHECKS = """
    Equal Equals NotEqual NotEquals True False Is IsNot IsNone IsNotNone In NotIn IsInstance NotIsInstance
    AlmostEqual NotAlmostEqual Greater GreaterEqual Less LessEqual Regex NotRegex RegexpMatches CountEqual
    ItemsEqual ListEqual TupleEqual SetEqual DictEqual SequenceEqual MultiLineEqual HTMLEqual JSONEqual
"""
COMPARING = frozenset("assert" + name for name in _CHECKS.split())
_RUNNERS = frozenset(("mark", "patch", "fixture", "skip", "skipIf", "skipUnless"))  # decorators that are no input
_OPEN_NODES = (ast.Call, ast.Name, ast.Attribute, ast.Subscript, ast.Lambda, ast.JoinedStr, ast.Await, ast.Yield)
LONGEST_DONOR, MOST_DONORS = 400, 400  # characters of a string that pieces are taken from; strings
LONGEST_GIVEN = 200  # characters of a literal that other calls take over


def callee_name(node: ast.AST) -> str:
    """Return the last part of a callee's name; "" if the node is no call."""
    callee = getattr(node, "func", None)
    return str(getattr(callee, "attr", getattr(callee, "id", "")))


def find_owner(node: Any) -> "ast.Name | None":
    """Return the variable that an expression looks into, or calls a method of; None if there is none."""
    inner = None if isinstance(getattr(node, "func", None), ast.Name) else node
    while isinstance(inner, (ast.Attribute, ast.Subscript, ast.Call)):
        inner = inner.func if isinstance(inner, ast.Call) else inner.value
    return inner if isinstance(inner, ast.Name) and inner is not node and inner.id != "self" else None


def is_literal(node: ast.AST) -> bool:
    return not any(isinstance(each, _OPEN_NODES) for each in ast.walk(node))


def is_check(node: ast.AST) -> bool:
    """Return whether a node is a call that checks something: its literals are the expected values."""
    return callee_name(node).startswith("assert") or callee_name(node).endswith("match_lines")


def is_raises(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and callee_name(node) in RAISES


def make_scope(function: Any, text: str, material: "Material" = NOTHING) -> Scope:
    """Return the changeable parts of a function; `text` is its source, with the lines of its syntax tree."""
    places = _Places(text)
    closed = [places.span(node) for node in _find_closed(function)]
    fixed = set()
    for node in _tables(function):
        line, column = places.start(node)
        fixed.update([(line, column), (line, column - 1)])  # before Python 3.8 a tuple begins at its first element
    spans = [span for span in closed if span]
    return Scope(spans, frozenset(fixed), _statements(function), material)


class _Places:
    """Turns the parser's byte columns into the tokenizer's character columns."""

    def __init__(self, text: str) -> None:
        self._lines = split_lines(text)

    def start(self, node: Any) -> "Place":
        line = self._lines[node.lineno - 1] if 0 < node.lineno <= len(self._lines) else ""
        return node.lineno, len(line.encode("utf-8")[: max(node.col_offset, 0)].decode("utf-8", "replace"))

    def span(self, root: ast.AST) -> "tuple[Place, Place] | None":
        found = [self.start(node) for node in ast.walk(root) if hasattr(node, "col_offset")]
        return (min(found), max(found)) if found else None


def _statements(function: Any) -> "list[tuple[int, str]]":
    """Return the first line and the role of each statement; a compound one stands for its head."""
    found = {1: LEADING}
    for node in ast.walk(function):
        if isinstance(node, ast.stmt) and node is not function:
            found[node.lineno] = _role(node)
    for node in ast.walk(function):
        if isinstance(node, (ast.With, ast.AsyncWith)) and any(is_raises(item.context_expr) for item in node.items):
            inside = (each for each in ast.walk(node) if isinstance(each, ast.stmt) and each is not node)
            found.update((each.lineno, ACTION) for each in inside)  # the first that raises ends the others
    return sorted(found.items())


def _role(node: ast.stmt) -> str:
    if isinstance(node, ast.Assert):
        return ASSERTION
    if isinstance(node, ast.Expr):
        return ASSERTION if is_check(node.value) else ACTION
    return LEADING


def _find_closed(function: Any) -> "Iterator[ast.AST]":
    """Yield the parts in which a change would be lost or would only break the test."""
    for decorator in function.decorator_list:
        if callee_name(decorator) == "parametrize":
            yield decorator.func
            yield from decorator.args[:1]
            yield from decorator.keywords
        elif any(getattr(node, "attr", getattr(node, "id", "")) in _RUNNERS for node in ast.walk(decorator)):
            yield decorator
    for node in ast.walk(function):
        yield from _find_closed_nodes(node)


def _find_closed_nodes(node: Any) -> "Iterator[ast.AST]":
    if isinstance(node, ast.Assert):
        yield from [each for each in _sides(node.test) if is_literal(each)]
        if node.msg is not None:
            yield node.msg
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        yield from [item.context_expr for item in node.items if is_raises(item.context_expr)]
    elif is_check(node):
        yield from [each for each in node.args if is_literal(each)]
    elif is_raises(node):
        yield from node.args[:1]
    elif isinstance(node, ast.Expr) and is_literal(node.value):
        yield node.value


def _sides(test: ast.AST) -> "list[ast.AST]":
    if isinstance(test, ast.Compare):
        return [test.left, *test.comparators]
    if isinstance(test, ast.BoolOp):
        return [side for value in test.values for side in _sides(value)]
    return [test]


def _tables(function: Any) -> "Iterator[ast.AST]":
    """Yield a parametrization's list of rows and the rows: their number and length stay."""
    for decorator in function.decorator_list:
        if callee_name(decorator) == "parametrize":
            for table in decorator.args[1:2]:
                yield table
                yield from getattr(table, "elts", [])


def collect_strings(tree: ast.AST) -> "list[str]":
    """Return the strings of a module that pieces may be taken from, shortest first."""
    found = set()
    for node in ast.walk(tree):
        held = getattr(node, "value", None) if type(node).__name__ == "Constant" else getattr(node, "s", None)
        if isinstance(held, str) and 2 < len(held) <= LONGEST_DONOR:
            found.add(held)
    return sorted(found, key=lambda each: (len(each), each))[:MOST_DONORS]


def collect_arguments(tree: ast.AST, lines: "Sequence[str]") -> "dict[str, list[Argument]]":
    found: dict[str, set[Argument]] = {}
    local = {id(node): bound for each in _functions(tree) for bound in [find_bound(each)] for node in ast.walk(each)}
    for node in (each for each in ast.walk(tree) if isinstance(each, ast.Call) and callee_name(each) != "parametrize"):
        given = [(str(place), each) for place, each in enumerate(node.args)]
        for name, value in given + [(each.arg, each.value) for each in node.keywords if each.arg]:
            needed = local.get(id(node), set()).intersection(used for _, used in find_used(value))
            text = values.literal(values.read_literal(value)) if is_literal(value) else _source(value, lines)
            if 0 < len(text) <= LONGEST_GIVEN:
                found.setdefault(callee_name(node), set()).add(Argument(name, text, frozenset(needed)))
    return {name: sorted(each, key=lambda argument: argument[:2]) for name, each in found.items()}


def _functions(tree: ast.AST) -> "list[Any]":
    return [each for each in ast.walk(tree) if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))]


def _source(node: Any, lines: "Sequence[str]") -> str:
    """Return the text of a one-line expression; "" for others, and where the parser does not report its end."""
    line = lines[node.lineno - 1] if node.lineno == getattr(node, "end_lineno", 0) else ""
    return line.encode("utf-8")[node.col_offset : getattr(node, "end_col_offset", 0)].decode("utf-8")


def collect_material(tree: ast.Module, lines: "Sequence[str]", material: Material) -> Material:
    top = (each for each in tree.body if isinstance(each, ast.Assign))
    return material._replace(
        around=collect_strings(tree),
        arguments=collect_arguments(tree, lines),
        statements=_collect_statements(tree, lines),
        variables=frozenset(name for each in top for name in find_bound(each)),
    )


def _collect_statements(tree: ast.AST, lines: "Sequence[str]") -> "list[Borrowed]":
    found = set()
    for function in _functions(tree):
        local = find_bound(function)
        for node in (each for each in ast.walk(function) if isinstance(each, (ast.Assign, ast.Expr))):
            if isinstance(node, ast.Assign) or (_role(node) == ACTION and not is_literal(node.value)):
                text = "".join(lines[node.lineno - 1 : getattr(node, "end_lineno", node.lineno)]).strip() + "\n"
                used = {name for _, name in find_used(node)}.difference(dir(builtins))
                found.add(Borrowed(text, frozenset(used & local), frozenset(used - local)))
    return sorted((each for each in found if len(each.text) <= LONGEST_DONOR), key=lambda each: each.text)
