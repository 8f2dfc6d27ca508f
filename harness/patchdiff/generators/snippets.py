"""The code in an issue's text as a test file: each piece a test, with the imports of the instance's own tests. Pure."""

import ast
import re
from collections.abc import Iterable, Iterator
from textwrap import dedent

from assay.harness.patchdiff.asking import parse

MOST = 8  # pieces
HEAD = "import unittest"
CLASS = "TestAssayIssue"
_FENCED = re.compile(r"^[ \t]*(```|~~~)[^\n]*\n(.*?)^[ \t]*\1", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"(?:^(?: {4}|\t)[^\n]*\n(?:[ \t]*\n)*)+", re.MULTILINE)
_PROMPT = re.compile(r"^\s*(?:>>>|\.\.\.|In ?\[\d*\]:|   \.\.\.:) ?")
_INLINE = re.compile(r"`([^`\n]+\([^`\n]*\))`")
_IMPORTS = ast.Import | ast.ImportFrom


def write_snippets(issue: str, own_tests: Iterable[str]) -> tuple[str, list[str]]:
    """Return a test file and the names of its tests inside it; "" and none where the issue has no code that parses.

    Args:
        issue: the issue's text.
        own_tests: sources of the instance's own test files: pieces of issues often lack their imports.
    """
    pieces = [body for text in _find_pieces(issue.replace("\r\n", "\n")) if (body := _read(text))][:MOST]
    inline: list[ast.stmt] = [
        each for text in _INLINE.findall(issue) for each in _read(text) if isinstance(each, ast.Expr)
    ]
    pieces += [inline] if inline else []
    imports = [node for text in own_tests for node in parse(text).body if isinstance(node, _IMPORTS)]
    bodies = [[each for each in body if not isinstance(each, _IMPORTS)] for body in pieces]
    imports += [each for body in pieces for each in body if isinstance(each, _IMPORTS)]
    before: list[ast.stmt] = []
    tests: dict[str, list[ast.stmt]] = {}
    for number, body in enumerate(bodies, 1):
        tests[f"test_issue_{number}"] = body
        if before and body:
            tests[f"test_issue_{number}_after_others"] = [*before, *body]
        before += body
    written = {name: "\n".join(map(ast.unparse, body)) for name, body in tests.items() if body}
    written = {
        name: text for name, text in written.items() if text not in [*written.values()][: [*written].index(name)]
    }
    if not written:
        return "", []
    heads = dict.fromkeys(
        [HEAD, *(ast.unparse(each) for each in imports if getattr(each, "module", "") != "__future__")]
    )
    lines = [*heads, "", "", f"class {CLASS}(unittest.TestCase):"]
    for name, text in written.items():
        lines += [f"    def {name}(self):", *(f"        {line}" if line else "" for line in text.split("\n")), ""]
    return "\n".join(lines), [f"{CLASS}::{name}" for name in written]


def _find_pieces(issue: str) -> Iterator[str]:
    """Yield fenced blocks, then indented ones and sessions outside of them."""
    yield from (match[2] for match in _FENCED.finditer(issue))
    rest = _FENCED.sub("\n", issue)
    yield from (match[0] for match in _INDENTED.finditer(rest))
    yield "\n".join(line for line in rest.splitlines() if _PROMPT.match(line))


def _read(text: str) -> list[ast.stmt]:
    """Return the statements of a piece; of a session, without what it prints; of text after code, the code."""
    lines = dedent(text.expandtabs(4)).splitlines()
    prompted = [_PROMPT.sub("", line, count=1) for line in lines if _PROMPT.match(line)]
    lines = prompted or lines
    for end in range(len(lines), 0, -1):
        if body := parse("\n".join(lines[:end])).body:
            return [each for node in body for each in _flatten(node)]
    return []


def _flatten(node: ast.stmt) -> list[ast.stmt]:
    """Return the statements that a test makes of one: those of a test or main program, and what is printed."""
    if isinstance(node, ast.FunctionDef) and node.name.startswith("test") and not node.args.args:
        return [each for inner in node.body for each in _flatten(inner)]
    if isinstance(node, ast.If) and "__name__" in ast.unparse(node.test):
        return [each for inner in node.body for each in _flatten(inner)]
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "print":
        return [ast.Expr(each) for each in node.value.args if not isinstance(each, ast.Starred | ast.Constant)]
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant | ast.Name):
        return [node] if isinstance(node.value, ast.Name) else []
    return [node]
