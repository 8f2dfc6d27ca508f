"""A test of the project with one thing in it looked at: the file that shows a divergence of ``amplify`` to a person."""

import ast
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from assay.harness.patchdiff.reproduction.excerpt import (
    FUNCTIONS,
    Change,
    Source,
    blocks,
    changed,
    excerpt,
    function_at,
    in_order,
)
from assay.harness.patchdiff.reproduction.reproduce import Difference, Draft, Reduction, frame, in_a_docstring

WHOLE, BLOCK, RAISED = "whole", "block", "raised"
"""Ways in which ``amplify.py`` looks at more than an expression."""
LONGEST = 500
"""Characters of an expression that it tells."""
_OPEN = (ast.Call, ast.Name, ast.Attribute, ast.Subscript, ast.Lambda, ast.JoinedStr, ast.Await, ast.Yield)


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of the original file: lines from 1, columns in characters."""

    line: int
    column: int
    end_line: int
    end_column: int
    old: str
    new: str

    @property
    def lines_lost(self) -> int:
        """How many lines fewer the file has with it."""
        return self.old.count("\n") - self.new.count("\n")


@dataclass(frozen=True, slots=True)
class Told:
    """What ``amplify.py`` tells of a probe; ``line`` is the original file's."""

    test: str
    line: int
    expression: str
    mode: str
    edits: tuple[Edit, ...]

    @classmethod
    def read(cls, line: Mapping[str, Any]) -> "Told | None":
        """Return what a line of the program says; None where there is nothing to redo."""
        told = line.get("literal") or {}
        if not told.get("line") or "::" not in told.get("test", ""):
            return None
        edits = tuple(Edit(**each) for each in told["mutations"])
        return cls(str(told["test"]), int(told["line"]), str(told["expression"]), str(told["mode"]), edits)

    @property
    def path(self) -> str:
        """Of the test file."""
        return self.test.partition("::")[0]

    @property
    def folder(self) -> str:
        """Where the test file lies."""
        return PurePosixPath(self.path).parent.as_posix()

    @property
    def names(self) -> tuple[str, ...]:
        """Of the test, the classes around it first."""
        return tuple(self.test.partition("[")[0].split("::")[1:])

    @property
    def row(self) -> str:
        """What names its row of a parametrization."""
        _, bracket, row = self.test.partition("[")
        return bracket + row


@dataclass(frozen=True, slots=True)
class _Place:
    """What is looked at: a function, the number of a statement in it, and that of an operand in the statement."""

    function: tuple[str, ...]
    statement: int = -1
    operand: int = -1


@dataclass(frozen=True)
class Amplified:
    """A test file in the making; parts are "e0", ... (changes) and "s0", ... (statements of the test)."""

    told: Told
    text: str
    """The original file's."""
    everything: bool = False
    """Keep all of the file but other tests, needed or not."""

    @property
    def folder(self) -> str:
        """Where the file has to lie."""
        return self.told.folder

    @property
    def row(self) -> str:
        """The end of the name of the one test that is meant."""
        return self.told.row

    @cached_property
    def place(self) -> _Place | None:
        """What is looked at; None if it cannot be found again."""
        try:
            source = Source.read(self._edited(()))
        except SyntaxError:
            return None
        told = self.told
        if told.mode == WHOLE:
            return _Place(told.names) if function_at(source.tree, told.names) else None
        lost = sum(each.lines_lost for each in told.edits if each.line < told.line)
        for names, function in _functions(source.tree):
            for number, statement in enumerate(in_order(function)):
                operand = _operand(source, statement, told, told.line - lost)
                if operand is not None:
                    return _Place(names, number, operand)
        return None

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """What may be left out."""
        if self.place is None:
            return ()
        source = Source.read(self._edited(()))
        function = function_at(source.tree, self.told.names)
        if function is None:
            return ()
        statements = in_order(function)
        held: set[int] = set()
        if self.place.function == self.told.names and self.place.statement >= 0:
            held = set(_around(function, statements[self.place.statement]))
        free = [f"s{number}" for number, each in enumerate(statements) if id(each) not in held]
        return (*(f"e{number}" for number in range(len(self.told.edits))), *free)

    def inside(self, part: str) -> frozenset[str]:
        """Return the parts that go with a part."""
        function = function_at(Source.read(self._edited(())).tree, self.told.names)
        if not part.startswith("s") or function is None:
            return frozenset()
        statements = in_order(function)
        below = {id(each) for each in in_order(statements[int(part[1:])])}
        return frozenset(f"s{number}" for number, each in enumerate(statements) if id(each) in below)

    def write(self, reduction: Reduction, told: Difference) -> str:
        """Return the file; "" if that makes none.

        Args:
            reduction: what is left out.
            told: what is seen with gold, pass by pass, and with the candidate.
        """
        try:
            source = Source.read(self._edited(reduction.without))
        except SyntaxError:
            return ""
        test = function_at(source.tree, self.told.names)
        looked_at = function_at(source.tree, self.place.function) if self.place else None
        if test is None or looked_at is None or self.place is None:
            return ""
        is_whole = self.place.statement < 0
        changes = [] if is_whole else _look(source, looked_at, self.place, self.told.mode)
        if not changes and not is_whole:
            return ""
        kept = None if is_whole else in_order(looked_at)[self.place.statement]
        changes += _leave_out(source, test, reduction.without)
        changes += _disarm(source, test, kept, reduction.without)
        for name, number in reduction.rows.items():
            changes += row_changes(source, test, name, number)
        body = excerpt(source, self.told.names, changes, self.everything)
        where = f"Lay it beside {self.told.path}"
        wrapped = (".".join(self.told.names), "assay_whole") if is_whole else None
        return frame(body, told, where, self._says(reduction), wrapped)

    def _says(self, reduction: Reduction) -> str:
        changes = [each for number, each in enumerate(self.told.edits) if f"e{number}" not in reduction.without]
        told = [f"    line {each.line}: {in_a_docstring(f'{each.old} -> {each.new}')}" for each in changes]
        return "\n".join([f"The test is {'::'.join(self.told.names)}{', with' if told else ' as it is:'}", *told])

    def _edited(self, without: Collection[str]) -> str:
        text = self.text
        starts = [0]
        for line in text.split("\n"):
            starts.append(starts[-1] + len(line) + 1)
        kept = [each for number, each in enumerate(self.told.edits) if f"e{number}" not in without]
        if any(each.end_line >= len(starts) for each in kept):
            return text
        return changed(
            text,
            [Change(starts[e.line - 1] + e.column, starts[e.end_line - 1] + e.end_column, e.new) for e in kept],
        )


def _functions(tree: ast.Module) -> list[tuple[tuple[str, ...], ast.AST]]:
    """Return the functions of the top level and of classes, with their names."""
    found: list[tuple[tuple[str, ...], ast.AST]] = []

    def visit(body: Sequence[ast.stmt], inside: tuple[str, ...]) -> None:
        for node in body:
            if isinstance(node, FUNCTIONS):
                found.append(((*inside, node.name), node))
            elif isinstance(node, ast.ClassDef):
                visit(node.body, (*inside, node.name))

    visit(tree.body, ())
    return found


def _operand(source: Source, statement: ast.stmt, told: Told, line: int) -> int | None:
    """Return which expression of a statement was looked at; None if it is another statement's."""
    for number, each in enumerate(_expressions(statement, told.mode)):
        if getattr(each, "lineno", 0) == line and source.segment(each)[:LONGEST] == told.expression:
            return number
    if line > len(source.starts):
        return None
    is_row = source.text[source.starts[line - 1] :].partition("\n")[0].strip() == told.expression
    if is_row and getattr(statement, "lineno", 0) == line:  # before Python 3.8 no more is told
        found = [n for n, each in enumerate(_expressions(statement, told.mode)) if not _is_literal(each)]
        return found[0] if found else None
    return None


def _expressions(statement: ast.stmt, mode: str) -> list[ast.AST]:
    """Return what of a statement may have been looked at."""
    if isinstance(statement, ast.With | ast.AsyncWith):
        if mode == RAISED:
            return list(statement.body[:1])
        return [statement.items[0].context_expr] if mode == BLOCK else []
    if mode in (RAISED, BLOCK):
        return []
    if isinstance(statement, ast.Assert):
        return _operands(statement.test)
    if isinstance(statement, ast.Expr):
        value = statement.value
        return [value, *(value.args if isinstance(value, ast.Call) else [])]
    return []


def _operands(test: ast.expr) -> list[ast.AST]:
    if isinstance(test, ast.BoolOp):
        return [each for value in test.values for each in _operands(value)]
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _operands(test.operand)
    return [test, test.left, *test.comparators] if isinstance(test, ast.Compare) else [test]


def _is_literal(node: ast.AST) -> bool:
    return not any(isinstance(each, _OPEN) for each in ast.walk(node))


def _around(function: ast.AST, statement: ast.stmt) -> list[int]:
    """Return the identities of a statement and of those that it stands in."""
    return [
        id(each)
        for each in in_order(function)
        if each is statement or any(inner is statement for inner in in_order(each))
    ]


def _look(source: Source, function: ast.AST, place: _Place, mode: str) -> list[Change]:
    """Return the changes that make the file look at its place; none if it stands where that is not possible."""
    statement = in_order(function)[place.statement]
    if isinstance(statement, ast.With | ast.AsyncWith):
        return [_beside(source, statement, mode)]
    indent = source.indent(statement)
    if indent is None:
        return []
    node = _expressions(statement, mode)[place.operand]
    told, (start, end) = source.segment(node), source.span(statement)
    told = f"({told})" if "\n" in told or isinstance(node, ast.Yield | ast.GeneratorExp) else told
    draw = "" if isinstance(node, ast.Call) else "draw=False"
    return [Change(start, end, f"with AssayLook({draw}) as look:\n{indent}    look.value = {told}")]


def _beside(source: Source, statement: ast.With | ast.AsyncWith, mode: str) -> Change:
    """Return the change that puts a look among the contexts of a ``with``: around them, or inside all."""
    if mode == BLOCK:
        at = source.span(statement.items[0].context_expr)[0]
        return Change(at, at, "AssayLook(), ")
    last = statement.items[-1]
    at = source.span(last.optional_vars or last.context_expr)[1]
    return Change(at, at, ", AssayLook(goes_on=True)")


def _leave_out(source: Source, function: ast.AST, without: Collection[str]) -> list[Change]:
    """Return the changes that take statements out; one that leaves its block empty becomes ``pass``."""
    statements = in_order(function)
    gone = {id(each) for number, each in enumerate(statements) if f"s{number}" in without}
    block_of = blocks(function)
    changes = []
    for each in statements:
        if id(each) not in gone:
            continue
        block = block_of.get(id(each), [each])
        stands_for_all = block[0] is each and all(id(other) in gone for other in block)
        if stands_for_all or not source.is_alone(each):
            changes.append(Change(*source.span(each), "pass"))
        else:
            first, last = source.lines_of(each)
            changes.append(Change(source.starts[first - 1] - 1, source.starts[last] - 1, ""))
    return changes


def _disarm(source: Source, function: ast.AST, kept: ast.stmt | None, without: Collection[str]) -> list[Change]:
    """Return the changes that keep other assertions, and calls for their effect, from ending the test."""
    statements = in_order(function)
    waiting = [each for each in statements if _waits(each)]
    raising = {id(inner) for each in [*waiting, *([kept] if kept else [])] for inner in in_order(each)}
    around = set(_around(function, kept)) if kept else set()
    changes = []
    for number, each in enumerate(statements):
        if f"s{number}" in without or id(each) in around | raising:
            continue
        if isinstance(each, ast.Assert | ast.Expr) and not _is_text(each) and source.indent(each) is not None:
            start = source.span(each)[0]
            changes.append(Change(start, start, "with contextlib.suppress(Exception): "))
        elif isinstance(each, ast.With) and each in waiting:
            start = source.span(each.items[0].context_expr)[0]
            changes.append(Change(start, start, "contextlib.suppress(BaseException), "))  # pytest's failures are such
    return changes


def _waits(node: ast.stmt) -> bool:
    """Tell whether a statement expects an exception of what is in it."""
    if not isinstance(node, ast.With | ast.AsyncWith):
        return False
    called = [getattr(each.context_expr, "func", None) for each in node.items]
    return any(str(getattr(each, "attr", getattr(each, "id", ""))).lower().find("raises") >= 0 for each in called)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and _is_literal(node.value)


def row_changes(source: Source, function: ast.AST, name: str, number: int) -> list[Change]:
    """Return the changes that leave one row of the parametrization of an argument."""
    changes = []
    for decorator in getattr(function, "decorator_list", []):
        if not isinstance(decorator, ast.Call) or getattr(decorator.func, "attr", "") != "parametrize":
            continue
        given = {each.arg: each.value for each in decorator.keywords}
        names = decorator.args[0] if decorator.args else given.get("argnames")
        table = decorator.args[1] if len(decorator.args) > 1 else given.get("argvalues")
        if names is None or table is None or name not in _argument_names(names):
            continue
        rows = table.elts if isinstance(table, ast.List | ast.Tuple) else []
        if len(rows) > number and not any(isinstance(each, ast.Starred) for each in rows):
            told = f"[{source.segment(rows[number])}]"
        else:
            told = f"list({source.segment(table)})[{number}:{number + 1}]"
        changes.append(Change(*source.span(table), told))
        if "ids" in given:
            changes.append(Change(*source.span(given["ids"]), "None"))
    return changes


def _argument_names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Constant):
        return [each.strip() for each in str(node.value).split(",")]
    return [str(getattr(each, "value", "")) for each in getattr(node, "elts", [])]


def drafts(line: Mapping[str, Any], sources: Mapping[str, str]) -> list[Draft]:
    """Return the drafts of a test that ``amplify.py`` told of: with what it needs of its file, and with all of that."""
    told = Told.read(line)
    if told is None or not sources.get(told.path):
        return []
    return [Amplified(told, sources[told.path], everything) for everything in (False, True)]
