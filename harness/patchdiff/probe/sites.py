"""Instrument a test module: each asserted operand and each expression statement is observed, and the test continues.

An observed statement becomes the body of a ``with`` that notes the value or the exception and swallows the latter;
only nodes that the syntax trees of Python 3.6 and 3.14 share are added.
"""

import ast
import copy
import re
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any, NamedTuple

from . import mutate, operators
from . import scope as scoping
from .brackets import Place, TokenEdit, split_lines

SEE = "_assay_see"  # put into builtins; given a site's number, returns its context manager
MARK = "__assay"  # between a test's name and the number of its changed copy
_COPY = re.compile(MARK + r"(\d+)(?:_by_([a-z_]+))?")
OPERAND, STRICT, RAISED, BLOCK, WHOLE = "operand", "strict", "raised", "block", "whole"
MOST_COPIED = 1000000  # characters of all changed copies of one test: more take longer to make than there is time
CONTENT = "content"  # the text inside what a check is about, and its state
_BODIES = ("body", "orelse", "finalbody", "handlers", "cases")


class Site(NamedTuple):
    """An observed place of a test file."""

    label: str  # unique in its function, the same on every side
    line: int
    text: str
    mode: str
    draw: bool  # whether items may be taken out of an iterator found here
    edits: "list[TokenEdit]"  # what was changed in the copy of the test and matters here, lines of the file


class _Function:
    """Puts eyes into one function."""

    def __init__(self, text: str, offset: int, sites: "list[Site]", prefix: str = "s") -> None:
        self._lines = split_lines(text)
        self._offset = offset
        self._sites = sites
        self._prefix = prefix
        self._count = 0
        self.only_asserts = False
        self.edits: list[TokenEdit] = []
        self.scope: mutate.Scope | None = None

    def see(self, value: Any, mode: str, at: Any, draw: bool = False) -> Any:
        """Return a statement that observes an expression; if that is None, the end of the statements put into it."""
        number = len(self._sites)
        line = getattr(at, "lineno", 1)
        label = self._prefix + str(self._count)
        shown = self._line_of_file(line)
        self._sites.append(Site(label, shown, self._text(at), mode, draw, self._relevant(shown - self._offset, mode)))
        self._count += 1
        here = _position(line)
        asked = ast.Call(ast.Name(SEE, ast.Load(), **here), [ast.Constant(number, **here)], [], **here)
        item = ast.withitem(asked, ast.Name("_assay_" + str(number), ast.Store(), **here))
        return ast.With([item], [ast.Assign([_value(number, line, ast.Store())], value, **here)], **here)

    def around(self, body: "list[ast.stmt]", mode: str, at: Any) -> Any:
        found = self.see(None, mode, at)
        found.body = body or [ast.copy_location(ast.Pass(), found)]
        site = self._sites[-1]
        inner: Iterator[Any] = ast.walk(found.body[-1])
        last = self._line_of_file(max(getattr(node, "lineno", 1) for node in inner))
        inside = [each for each in self.edits if site.line < each.start[0] <= last and each not in site.edits]
        self._sites[-1] = site._replace(edits=site.edits + inside)
        return found

    def body(self, statements: "list[ast.stmt]", strict: bool = False) -> "list[ast.stmt]":
        """Return statements with eyes; `strict` lets exceptions pass, since something around waits for them."""
        found: list[ast.stmt] = []
        for statement in statements:
            found += self._statement(statement, strict)
        return found

    def _line_of_file(self, line: int) -> int:
        """Return a line's number in the file: a change may have joined or split lines before it."""
        moved = 0
        for edit in self.edits:
            start = edit.start[0] - self._offset - moved
            if start < line:  # a line that was put in counts as the one that it is before
                moved += max(edit.old.count("\n") - edit.new.count("\n"), start - line)
        return line + moved + self._offset

    def _relevant(self, line: int, mode: str) -> "list[TokenEdit]":
        """Return the changes that a place can depend on: its own statement's, and earlier ones outside assertions."""
        if self.scope is None or mode == WHOLE:
            return self.edits
        own = mutate.find_role(self.scope, line)[0]
        found = []
        for edit in self.edits:
            first, role = mutate.find_role(self.scope, edit.start[0] - self._offset)
            if first == own or (first < own and (role != mutate.ASSERTION or mutate.is_repetition(edit))):
                found.append(edit)
        return found

    def _is_idle(self, node: Any) -> bool:
        """Return whether a statement is a check that depends on no change: the test itself shows the same."""
        is_check = isinstance(node, ast.Assert) or (isinstance(node, ast.Expr) and scoping.is_check(node.value))
        line = self._line_of_file(node.lineno) - self._offset
        return self.scope is not None and is_check and not self._relevant(line, OPERAND)

    def _text(self, node: Any) -> str:
        """Return the source of a node; its whole line where the parser does not report its end."""
        line, end = getattr(node, "lineno", 1), getattr(node, "end_lineno", None)
        row = self._lines[line - 1] if line <= len(self._lines) else ""
        if end is None or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return row.strip()
        rows = [each.encode("utf-8") for each in self._lines[line - 1 : end]] or [b""]
        rows[-1] = rows[-1][: getattr(node, "end_col_offset", None)]
        rows[0] = rows[0][getattr(node, "col_offset", 0) :]
        return b"".join(rows).decode("utf-8", "replace")[:500]

    def _statement(self, node: Any, strict: bool) -> "list[ast.stmt]":
        mode = STRICT if strict else OPERAND
        if not strict and self._is_idle(node):
            return [ast.copy_location(ast.Pass(), node)]
        if isinstance(node, ast.Assert):
            return self._observe_assertion(node.test, mode)
        if isinstance(node, ast.Expr):
            return self._expression(node, mode)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return [node]
        if isinstance(node, (ast.With, ast.AsyncWith)):
            return self._context(node, strict)
        waits = bool(getattr(node, "handlers", []))
        for field in _BODIES:
            self._inside(node, field, strict or (waits and field == "body"))
        return [node]

    def _inside(self, node: Any, field: str, strict: bool) -> None:
        held = getattr(node, field, None)
        if not isinstance(held, list) or not held:
            return
        if isinstance(held[0], ast.stmt):
            setattr(node, field, self.body(held, strict))
        else:
            for each in held:
                each.body = self.body(each.body, strict)

    def _context(self, node: Any, strict: bool) -> "list[ast.stmt]":
        if any(scoping.is_raises(item.context_expr) for item in node.items):
            node.body = [self.around(node.body, RAISED, node.body[0])]
        else:
            node.body = self.body(node.body, strict)
        return [node] if strict or self.only_asserts else [self.around([node], BLOCK, node.items[0].context_expr)]

    def _expression(self, node: ast.Expr, mode: str) -> "list[ast.stmt]":
        value = node.value
        if scoping.is_literal(value) or isinstance(value, (ast.Yield, ast.YieldFrom)):
            return [node]
        name = scoping.callee_name(value)
        starred = any(isinstance(each, ast.Starred) for each in getattr(value, "args", ()))
        if name in scoping.COMPARING and isinstance(value, ast.Call) and value.args and not starred:
            return self._observe_comparison(value, value.args, [ast.Eq()] if name == "assertEqual" else [], mode)
        if self.only_asserts:
            return [node]
        given = self._observe_arguments(value, mode) if isinstance(value, ast.Call) else []
        return [*given, self.see(value, mode, value, draw=isinstance(value, ast.Call))]

    def _observe_arguments(self, call: ast.Call, mode: str) -> "list[ast.stmt]":
        """Return statements that observe a call's arguments, such as the values that a test's own check takes."""
        found = []
        asked = getattr(call.func, "value", None)
        if isinstance(asked, ast.Attribute):
            found.append(self.see(copy.deepcopy(asked), CONTENT, asked))
        for number, argument in enumerate(call.args):
            if isinstance(argument, ast.Name):
                found.append(self.see(argument, CONTENT, argument))
            elif isinstance(argument, (ast.Attribute, ast.Call, ast.Subscript)):
                call.args[number] = _value(len(self._sites), argument.lineno)
                found.append(self.see(argument, mode, argument))
        return found

    def _observe_assertion(self, test: Any, mode: str) -> "list[ast.stmt]":
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            return [each for value in test.values for each in self._observe_assertion(value, mode)]
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self._observe_assertion(test.operand, mode)
        if isinstance(test, ast.Compare):
            return self._observe_comparison(test, [test.left, *test.comparators], test.ops, mode)
        return self._observe_comparison(test, [test], [], mode)

    def _observe_comparison(
        self, whole: Any, operands: "list[Any]", operators: "list[Any]", mode: str
    ) -> "list[ast.stmt]":
        """Return statements that observe each operand once, in order, and then each comparison."""
        found, again = [], []  # type: list[ast.stmt], list[Any]
        for operand in operands:
            if scoping.is_literal(operand):
                again.append(operand)
                continue
            again.append(_value(len(self._sites), operand.lineno))
            found.append(self.see(operand, mode, operand, draw=isinstance(operand, ast.Call)))
            owner = scoping.find_owner(operand)
            if owner is not None:
                found.append(self.see(copy.deepcopy(owner), CONTENT, owner))
        for left, operator, right in zip(again, operators, again[1:]):  # noqa: B905 - not before Python 3.10
            compare = ast.Compare(left=left, ops=[operator], comparators=[right])
            found.append(self.see(ast.copy_location(compare, left), mode, whole))
        return found or [ast.copy_location(ast.Pass(), operands[0])]


def _position(line: int) -> "dict[str, Any]":
    return {"lineno": line, "col_offset": 0, "end_lineno": line, "end_col_offset": 0}


def _value(number: int, line: int, context: Any = None) -> Any:
    """Return ``_assay_NUMBER.value``, a place's observed value."""
    name = ast.Name("_assay_" + str(number), ast.Load(), **_position(line))
    return ast.Attribute(name, "value", context or ast.Load(), **_position(line))


def _guard(statement: Any, exception: str, line: int) -> Any:
    """Return a statement with ``try`` around it: exceptions of this name end nothing else."""
    here = _position(line)
    handler = ast.ExceptHandler(ast.Name(exception, ast.Load(), **here), None, [ast.Pass(**here)], **here)
    return ast.Try([statement], [handler], [], [], **here)


class Instrument:
    """Rewrites a test module: eyes in every test, changed copies beside it, imports that may fail alone.

    Args:
        source: the module's text.
        path: its name, part of the seed of all changes.
        seed: the other part.
        copies: gives the number of a test's changed copies, and the numbers that will run; None: the test will not run.
        sites: the places observed in all modules so far; those of this one are added.
        material: the material for changes; what the module itself offers is added.
    """

    def __init__(
        self,
        source: str,
        path: str,
        seed: int,
        copies: "Callable[[str], tuple[int, Container[int] | None]]",
        sites: "list[Site]",
        material: "mutate.Material" = mutate.NOTHING,
    ) -> None:
        self._lines = split_lines(source)
        self._tree = tree = ast.parse(source, path)
        self._path = path
        self._seed = seed
        self._copies = copies
        self._material = scoping.collect_material(tree, self._lines, material)
        self._sites = sites

    def rewrite(self) -> ast.Module:
        self._tree.body = self._members(self._tree.body, "", len(self._lines))
        return self._tree

    def _members(self, body: "list[Any]", inside: str, last: int) -> "list[ast.stmt]":
        found: list[ast.stmt] = []
        ends = [mutate.first_line(node) - 1 for node in body[1:]] + [last]
        for node, end in zip(body, ends):  # noqa: B905 - not before Python 3.10
            if isinstance(node, ast.ClassDef):
                node.body = self._members(node.body, inside + node.name + ".", end)
                found.append(node)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found += self._function(node, inside, end)
            elif not inside and isinstance(node, (ast.Import, ast.ImportFrom)):
                found += _split_import(node)
            else:
                found.append(node)
        return found

    def _function(self, node: Any, inside: str, last: int) -> "list[ast.stmt]":
        first = mutate.first_line(node)
        text = "".join(self._lines[first - 1 : last])
        if not node.name.startswith("test"):
            return [self._helper(node, text, first)]
        count, wanted = self._copies(node.name)
        if wanted is None:
            return [node]
        found = [self._eyes(text, first, node.name)]
        if not count:
            return found
        scope = scoping.make_scope(mutate.parse_function(text), text, self._material)
        name = self._path + "::" + inside + node.name
        order = text, scope, str(self._seed) + name, min(count, MOST_COPIED // len(text))
        by_rule = bool(self._material.operators)
        mutants = operators.make_copies(*order) if by_rule else [("", *each) for each in mutate.make_copies(*order)]
        for number, (operator, changed, edits, function) in enumerate(mutants, 1):
            if number not in wanted:
                continue
            copied = node.name + MARK + str(number) + ("_by_" + operator if operator else "")
            moved = [edit._replace(start=_below(edit.start, first), end=_below(edit.end, first)) for edit in edits]
            found.append(_guard(self._eyes(changed, first, copied, moved, scope, function), "Exception", first))
        return found

    def _eyes(
        self,
        text: str,
        first: int,
        name: str,
        edits: "Sequence[TokenEdit]" = (),
        scope: "mutate.Scope | None" = None,
        parsed: Any = None,
    ) -> Any:
        node = parsed or mutate.parse_function(text)
        eyes = _Function(text, first - 1, self._sites)
        eyes.edits, eyes.scope = sorted(edits), scope
        node.name = name
        head = node.body[:1] if ast.get_docstring(node, clean=False) is not None else []
        body = eyes.body(node.body[len(head) :])
        node.body = [*head, eyes.around(body, WHOLE, node)]
        return node if edits else ast.increment_lineno(node, first - 1)

    def _helper(self, node: Any, text: str, first: int) -> Any:
        """Return a function that tests call, its assertions observed; decorated ones, such as fixtures, stay."""
        if node.decorator_list:
            return node
        eyes = _Function(text, first - 1, self._sites, "h" + str(first) + ".")
        eyes.only_asserts = True
        found = mutate.parse_function(text)
        found.body = eyes.body(found.body)
        return ast.increment_lineno(found, first - 1)


def strip_mark(nodeid: str) -> str:
    return _COPY.sub("", nodeid, 1)


def copy_number(nodeid: str) -> int:
    """Return the number of a changed copy; 0 for the test itself."""
    found = _COPY.search(nodeid.partition("[")[0])
    return int(found.group(1)) if found else 0


def find_operator(nodeid: str) -> str:
    """Return the name of the operator that changed a copy; "" if none did."""
    found = _COPY.search(nodeid.partition("[")[0])
    return (found.group(2) or "") if found else ""


def _below(place: Place, first: int) -> Place:
    return place[0] + first - 1, place[1]


def _split_import(node: Any) -> "list[ast.stmt]":
    """Split an import by name; each may fail, since on some side the name may not exist yet."""
    if getattr(node, "module", "") == "__future__":
        return [node]
    found = []
    for alias in node.names:
        single = copy.copy(node)
        single.names = [alias]
        found.append(_guard(single, "ImportError", node.lineno))
    return found
