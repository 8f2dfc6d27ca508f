"""Workloads of SWE-fficiency: a Python program that times a function, read without running it.

    def setup(): ...
    def workload(): ...
    runtimes = timeit.repeat(workload, number=5, repeat=10, setup=setup)
    print("Mean:", ...)

Assay takes the functions and the numbers, and leaves out the call and what follows it: root's clock takes the time.
"""

import ast
from dataclasses import dataclass

NUMBER = 1_000_000  # ``timeit``'s own number of calls
KEPT = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
"""Statements that stay where they stand behind the call, too."""


class MalformedWorkloadError(ValueError):
    """The text is no workload of this form; the message says why."""


@dataclass(frozen=True, slots=True)
class Workload:
    """What is timed."""

    source: str
    """Defines the functions; the timed one returns its result and its local variables."""
    function: str
    setup: str
    """Function that is called first, outside of the time; empty if there is none."""
    number: int
    """Calls in one time."""


def read_workload(text: str) -> Workload:
    """Read a program without running it; raises MalformedWorkloadError."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise MalformedWorkloadError(f"is no Python program: {error}") from error
    found = next(((place, call) for place, each in enumerate(body) for call in _find_calls(each)), None)
    if found is None:
        raise MalformedWorkloadError("calls no timeit.repeat(FUNCTION, ...) outside of functions")
    place, call = found
    function = _get_name(call.args[0] if call.args else _find_argument(call, "stmt"))
    setup = _get_name(_find_argument(call, "setup"))
    kept = [*body[:place], *(each for each in body[place:] if isinstance(each, KEPT))]
    timed = [each for each in kept if isinstance(each, ast.FunctionDef) and each.name == function]
    if not timed or (_find_argument(call, "setup") is not None and not setup):
        raise MalformedWorkloadError("times something else than a function of the program")
    _WithLocals().change(timed[-1])
    source = ast.unparse(ast.fix_missing_locations(ast.Module(kept, [])))
    return Workload(source, function, setup, _read_number(_find_argument(call, "number")))


def _find_calls(statement: ast.stmt) -> list[ast.Call]:
    if isinstance(statement, KEPT):
        return []
    return [each for each in ast.walk(statement) if isinstance(each, ast.Call) and _is_repeat(each.func)]


def _is_repeat(function: ast.expr) -> bool:
    if isinstance(function, ast.Attribute):
        return function.attr == "repeat" and isinstance(function.value, ast.Name) and function.value.id == "timeit"
    return isinstance(function, ast.Name) and function.id == "repeat"


def _find_argument(call: ast.Call, name: str) -> ast.expr | None:
    return next((each.value for each in call.keywords if each.arg == name), None)


def _get_name(node: ast.expr | None) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _read_number(node: ast.expr | None) -> int:
    if node is None:
        return NUMBER
    if isinstance(node, ast.Constant) and isinstance(node.value, int) and node.value > 0:
        return node.value
    raise MalformedWorkloadError("has a number of calls that is not written as one")


class _WithLocals(ast.NodeTransformer):
    """Makes a function return its result and its local variables; functions inside it stay as they are."""

    def change(self, function: ast.FunctionDef) -> None:
        if any(isinstance(each, ast.Yield | ast.YieldFrom) for each in ast.walk(function)):
            raise MalformedWorkloadError("times a generator, which computes nothing when it is called")
        function.body = [self.visit(each) for each in function.body] + [_return(ast.Constant(None))]

    def visit_Return(self, node: ast.Return) -> ast.Return:
        return _return(node.value or ast.Constant(None))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        return node


def _return(value: ast.expr) -> ast.Return:
    local = ast.Call(ast.Name("locals", ast.Load()), [], [])
    return ast.Return(ast.Tuple([value, local], ast.Load()))
