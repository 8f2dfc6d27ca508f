"""A test of the project, with changed inputs and a look at one thing in it: shows a divergence of ``amplify``."""

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from assay.harness.patchdiff.probe.brackets import TokenEdit
from assay.harness.patchdiff.probe.mutate import apply
from assay.harness.patchdiff.reproduction.sources import Source, TextChange, apply_changes, drop_others, find_function
from assay.harness.patchdiff.reproduction.writing import Check, escape_docstring, frame

WHOLE, BLOCK, RAISED = "whole", "block", "raised"
"""Modes in which the probe observes more than an expression."""
LONGEST = 500  # characters of an expression that the probe reports
_Look = tuple[ast.stmt, ast.AST | None]  # a statement, and the expression of it that is looked at


@dataclass(frozen=True, slots=True)
class AmplifiedDraft:
    test: str
    """Its id, ``path::Class::test[row]``."""
    line: int
    """Line, in the original file, of the observed expression."""
    expression: str
    mode: str
    edits: Sequence[TokenEdit]
    text: str

    @property
    def folder(self) -> str:
        return PurePosixPath(self.test.partition("::")[0]).parent.as_posix()

    def write(self, check: Check) -> str:
        """Return the file; "" if the observed place is not found again."""
        try:
            source = Source.read(apply(self.text, self.edits))
        except SyntaxError:
            return ""
        path, _, inside = self.test.partition("::")
        names = inside.partition("[")[0].split("::")
        test = find_function(source.tree, names)
        place = None if self.mode == WHOLE else self._place(source)
        if test is None or (place is None and self.mode != WHOLE):
            return ""
        changes = [*drop_others(source, test), *_disarm(source, test, place[0] if place else None)]
        if place:
            changes.append(_look(source, *place, self.mode))
        body = re.sub(r"\n{4,}", "\n\n\n", apply_changes(source.text, changes))
        shown = [f"    line {each.start[0]}: {escape_docstring(each.old + ' -> ' + each.new)}" for each in self.edits]
        says = "\n".join([f"The test is {'::'.join(names)}{', with' if shown else ' as it is:'}", *shown])
        return frame(body, check, f"Put it beside {path}", says, f"::{inside}", self.mode == WHOLE)

    def _place(self, source: Source) -> _Look | None:
        """Return the observed statement and the expression in it; None if it is not found."""
        moved = [(each.start, each.new.count("\n") - each.old.count("\n")) for each in self.edits]
        lines = {self.line + sum(by for start, by in moved if start <= (self.line, least)) for least in (-1, 0)}
        for node in ast.walk(source.tree):
            if isinstance(node, ast.With | ast.AsyncWith) and self.mode in (BLOCK, RAISED):
                at: ast.AST = node.items[0].context_expr if self.mode == BLOCK else node.body[0]
                if self._matches(source, at, lines):
                    return node, None
            elif isinstance(node, ast.Assert | ast.Expr) and self.mode not in (BLOCK, RAISED):
                for each in ast.walk(node):
                    if isinstance(each, ast.expr) and self._matches(source, each, lines):
                        return node, each
        return None

    def _matches(self, source: Source, node: ast.AST, lines: Collection[int]) -> bool:
        """Return whether the probe observed this node; before Python 3.8 it reports whole lines."""
        line = getattr(node, "lineno", 0)
        if line not in lines:
            return False
        row = source.text[source.starts[line - 1] :].partition("\n")[0].strip()
        return self.expression in (source.segment(node)[:LONGEST], row)


def _look(source: Source, statement: ast.stmt, expression: ast.AST | None, mode: str) -> TextChange:
    if expression is None:
        assert isinstance(statement, ast.With | ast.AsyncWith)
        if mode == BLOCK:
            at = source.span(statement.items[0].context_expr)[0]
            return TextChange(at, at, "AssayLook(), ")
        last = statement.items[-1]
        at = source.span(last.optional_vars or last.context_expr)[1]
        return TextChange(at, at, ", AssayLook(reraise=True)")
    text = source.segment(expression)
    text = f"({text})" if "\n" in text or isinstance(expression, ast.Yield | ast.GeneratorExp) else text
    draw = "" if isinstance(expression, ast.Call) else "draw=False"
    indent = " " * statement.col_offset
    return TextChange(*source.span(statement), f"with AssayLook({draw}) as look:\n{indent}    look.value = {text}")


def _disarm(source: Source, test: ast.AST, kept: ast.stmt | None) -> Iterator[TextChange]:
    """Yield the changes that keep other assertions, and calls for their effect, from ending the test."""
    raising = [node for node in ast.walk(test) if isinstance(node, ast.With | ast.AsyncWith) and _waits(node)]
    open_ = {id(inner) for node in [*([kept] if kept else []), *raising] for inner in ast.walk(node)}
    for node in ast.walk(test):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        is_check = isinstance(node, ast.Assert | ast.Expr) and not is_text
        if is_check and id(node) not in open_ and source.indent(node) is not None:
            start = source.span(node)[0]
            yield TextChange(start, start, "with contextlib.suppress(Exception): ")
    for node in raising:
        if isinstance(node, ast.With) and node is not kept and not any(inner is kept for inner in ast.walk(node)):
            start = source.span(node.items[0].context_expr)[0]
            yield TextChange(start, start, "contextlib.suppress(BaseException), ")  # pytest's failures are such


def _waits(node: ast.With | ast.AsyncWith) -> bool:
    called = [getattr(each.context_expr, "func", None) for each in node.items]
    return any("raises" in str(getattr(each, "attr", getattr(each, "id", ""))).lower() for each in called)


def make_amplified_draft(line: Mapping[str, Any], sources: Mapping[str, str]) -> AmplifiedDraft | None:
    found = line.get("literal") or {}
    test = str(found.get("test", ""))
    text = sources.get(test.partition("::")[0])
    if not found.get("line") or not text:
        return None
    edits = [TokenEdit((*start,), (*end,), old, new) for start, end, old, new in found["mutations"]]
    return AmplifiedDraft(test, found["line"], found["expression"], found["mode"], edits, text)
