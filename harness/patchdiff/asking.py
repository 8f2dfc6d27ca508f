"""What changed Python code asks of its input: conditions, options and classes, as material for new calls. Pure.

An expression is given as its source. It is chosen from the three sides' texts, hence is the same on every side.
"""

import ast
import builtins
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from assay.harness.patchdiff.sides import Side
from assay.harness.patchdiff.targets import Target, Texts

MOST = 40  # values of one kind
MOST_RELATIVES = 8  # classes that may stand in place of one
EXAMPLES: dict[str, Sequence[str]] = {
    "int": ("1", "0", "-1"),
    "float": ("1.5", "float('inf')", "float('nan')"),
    "bool": ("True", "False"),
    "str": ("'a'", "''"),
    "bytes": ("b'a'", "b''"),
    "list": ("[1]", "[]"),
    "tuple": ("(1,)", "()"),
    "set": ("{1}", "set()"),
    **dict.fromkeys(("dict", "Mapping"), ("{'a': 1}", "{}")),
    **dict.fromkeys(("Iterable", "Sequence", "Collection", "Sized"), ("[1]", "(1,)", "'a'", "iter([1])")),
    **dict.fromkeys(("Callable", "FunctionType"), ("len", "lambda *args, **others: None")),
}
EMPTY = ("None", "''", "[]", "0", "{}", "()", "False")
OTHER_FLAGS = {"True": ["False"], "False": ["True"], "None": ["True", "0", "''", "[]"], "''": ["'a'"]}
TEXT_TESTS = frozenset({"startswith", "endswith", "find", "index", "count", "split", "strip", "lstrip", "rstrip"})
_AWAITED = re.compile(r"\b(?:raises|assertRaises\w*)\(\s*(\([^()]*\)|[\w.]+)")
_RAISED = re.compile(r"\b[Rr]aises?\b(.*)", re.DOTALL)
_ERROR = re.compile(r"\b[A-Z]\w*\b(?!\.)")
Function = ast.FunctionDef | ast.AsyncFunctionDef
Values = Mapping[str, Sequence[str]]
"""Expressions by the parameter or attribute that a condition asks about; "" is any other."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The material for new calls; all of it is plain data."""

    gold: Values = field(default_factory=dict)
    """Values on both sides of gold's conditions."""
    candidate: Values = field(default_factory=dict)
    """The same of conditions that gold does not have."""
    empty: Values = field(default_factory=dict)
    """The same of conditions that only ask whether a value is true."""
    attributes: Sequence[str] = ()
    """Attributes asked for, as keywords of a constructor would be called."""
    parameters: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Positional parameters of each function or class, without the object itself."""
    keywords: Mapping[str, Values] = field(default_factory=dict)
    """Parameters with a default of each function or class; their defaults, then other values."""
    relatives: Values = field(default_factory=dict)
    """Expressions of the classes that share a base with a class, or are its base or child."""
    dunders: Sequence[str] = ()
    words: Sequence[str] = ()


def find_asked(texts: Texts, targets: Sequence[Target], words: Sequence[str]) -> Asked:
    """Read what the sides' touched files ask for; a file that this Python cannot parse asks for nothing."""
    trees = {
        side: {path: parse(text) for path, text in found.items() if path.endswith(".py")}
        for side, found in texts.items()
    }
    base, gold, candidate = (_find_conditions(trees.get(side, {})) for side in (Side.BASE, Side.GOLD, Side.CANDIDATE))
    here = trees.get(Side.GOLD, {})
    known = [each for tree in here.values() for each in _functions(tree, targets)]
    inside = _find_conditions(
        {path: ast.Module([node for _, node in _functions(tree, targets)], []) for path, tree in here.items()}
    )
    readers = [_Reader(), _Reader()]
    several = [*(gold - candidate), *(gold - base), *inside], [*(candidate - gold), *(base - gold)]
    of_gold, others = (each.read(found) for each, found in zip(readers, several, strict=True))
    parts = [part for each in targets for part in each.name.split(".")]
    return Asked(
        of_gold,
        others,
        {subject: EMPTY for each in readers for subject in each.truths},
        list(dict.fromkeys(name for each in readers for name in each.attributes))[:MOST],
        {name: _positional(node) for name, node in known},
        {name: found for name, node in known if (found := _keywords(node, of_gold))},
        _find_relatives(here),
        [part for part in dict.fromkeys(parts) if part.startswith("__") and part.endswith("__")],
        words,
    )


def find_promised(test_patch: str, gold: Iterable[str], targets: Sequence[Target]) -> frozenset[str]:
    """Return the exceptions that added tests wait for, or that docstrings of targets and their classes name."""
    added = "\n".join(line[1:] for line in test_patch.splitlines() if line.startswith("+"))
    wanted = {part for each in targets for part in each.name.split(".")}
    nodes = [node for text in gold for node in ast.walk(parse(text))]
    named = (each for each in nodes if isinstance(each, Function | ast.ClassDef) and each.name in wanted)
    said = (text for each in named for text in _RAISED.findall(ast.get_docstring(each) or ""))
    return frozenset(name for each in (*_AWAITED.findall(added), *said) for name in _ERROR.findall(each))


def parse(text: str) -> ast.Module:
    """Return the tree of a program; an empty one for what this Python cannot parse."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module([], [])


def _find_conditions(trees: Mapping[str, ast.AST]) -> Counter[tuple[str, str]]:
    """Return how often each condition is there, by its file and source."""
    found = ((path, test) for path, tree in trees.items() for node in ast.walk(tree) for test in _tests(node))
    return Counter((path, ast.unparse(test)) for path, test in found)


def _tests(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.If | ast.IfExp | ast.While | ast.Assert):
        return [node.test]
    if isinstance(node, ast.comprehension | ast.BoolOp):
        return node.values if isinstance(node, ast.BoolOp) else node.ifs
    asks = isinstance(node, ast.Call) and _callee(node) in ("isinstance", "hasattr", "issubclass")
    return [node] if isinstance(node, ast.Compare) or (asks and isinstance(node, ast.Call)) else []


class _Reader:
    """Reads conditions: values for both answers, and the attributes and truths that they ask for."""

    def __init__(self) -> None:
        self.attributes: dict[str, None] = {}
        self.truths: dict[str, None] = {}

    def read(self, conditions: Iterable[tuple[str, str]]) -> Values:
        values: dict[str, dict[str, None]] = {}
        for path, source in conditions:
            for node, news in self._read(ast.parse(source, mode="eval").body, path):
                subject = _subject(node)
                values.setdefault(subject, {}).update(dict.fromkeys(news))
                self.truths |= {} if news else {subject: None}
        return {subject: tuple(news)[:MOST] for subject, news in values.items() if news}

    def _read(self, node: ast.expr, path: str) -> Iterator[tuple[ast.expr, Sequence[str]]]:
        """Yield the subject of each atom of a condition, with values; none where it only asks for truth."""
        if isinstance(node, ast.BoolOp | ast.UnaryOp):
            for each in node.values if isinstance(node, ast.BoolOp) else [node.operand]:
                yield from self._read(each, path)
        elif isinstance(node, ast.Compare):
            for pair in zip([node.left, *node.comparators], node.comparators, strict=False):
                yield from _compare(*pair)
                yield from _compare(*reversed(pair))
        elif isinstance(node, ast.Call):
            yield from self._read_call(node, path)
        else:
            self._note(node)
            yield node, ()

    def _read_call(self, node: ast.Call, path: str) -> Iterator[tuple[ast.expr, Sequence[str]]]:
        name, given = _callee(node), node.args
        if name in ("isinstance", "issubclass") and len(given) == 2:
            kinds = given[1].elts if isinstance(given[1], ast.Tuple) else [given[1]]
            yield given[0], [text for kind in kinds for text in _examples(kind, path, name == "issubclass")]
        elif name in ("hasattr", "getattr") and len(given) > 1 and isinstance(given[1], ast.Constant):
            yield given[0], [f"type('Has', (), {{{given[1].value!r}: {each}}})()" for each in ("None", "1", "len")]
            self.attributes[str(given[1].value).removeprefix("is_")] = None
        elif name == "callable" and given:
            yield given[0], EXAMPLES["Callable"]
        elif isinstance(node.func, ast.Attribute):
            self._note(node.func)
            yield node.func.value, [text for each in given for text in _neighbours(each) if name in TEXT_TESTS]

    def _note(self, node: ast.expr) -> None:
        if isinstance(node, ast.Attribute):
            self.attributes[node.attr.removeprefix("is_")] = None


def _compare(asked: ast.expr, literal: ast.expr) -> Iterator[tuple[ast.expr, Sequence[str]]]:
    news = _neighbours(literal)
    if news and isinstance(asked, ast.Call) and _callee(asked) == "len" and asked.args:
        lengths = [int(each) for each in news if each.isdecimal() and int(each) <= MOST]
        yield asked.args[0], [text for size in lengths for text in (f"[0] * {size}", f"'a' * {size}")]
    elif news:
        yield asked, news


def _neighbours(node: ast.expr) -> list[str]:
    """Return a literal and values next to it; of a tuple's or set's, each item; nothing for what is no literal."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return [ast.unparse(node), *(text for each in node.elts for text in _neighbours(each))]
    try:
        value = ast.literal_eval(node)
    except (ValueError, SyntaxError, TypeError):
        return []
    if type(value) in (int, float):
        return [repr(each) for each in (value, value + 1, value - 1)]
    return [repr(value), *([repr(value + "a"), repr("a" + value)] if isinstance(value, str) else ())]


def _examples(kind: ast.expr, path: str, is_class: bool) -> list[str]:
    """Return instances of a type. Those of a project's class come from tests: a bare one is often what no user has."""
    name = ast.unparse(kind)
    last, is_builtin = name.rpartition(".")[2], hasattr(builtins, name)
    root = name if is_builtin else f"{_module(path)}.{name}"
    subclass = f"type('Sub', ({root},), {{}})"
    if not re.fullmatch(r"[\w.]+", name):
        return []
    return [root, subclass] if is_class else [*EXAMPLES.get(last, (f"@{last}",)), *[f"{subclass}()"] * is_builtin]


def _module(path: str) -> str:
    """Return an expression of the module that a file holds."""
    parts = PurePosixPath(path).with_suffix("").parts
    parts = parts[parts[0] in ("src", "lib") :]
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return f"__import__('importlib').import_module({name!r})"


def _subject(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
        return node.attr.lstrip("_")
    return node.id if isinstance(node, ast.Name) else ""


def _callee(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _functions(tree: ast.Module, targets: Sequence[Target]) -> list[tuple[str, Function]]:
    """Return the targets of a file and the constructors of their classes, by the names that calls have."""
    wanted = {each.name.rpartition(".")[2] for each in targets}
    classes = {part for each in targets for part in each.name.split(".")[:-1]}
    holders = [node for node in ast.walk(tree) if isinstance(node, ast.Module | ast.ClassDef)]
    nodes = [(holder, node) for holder in holders for node in holder.body if isinstance(node, Function)]
    made = [(getattr(holder, "name", ""), node) for holder, node in nodes if node.name in ("__init__", "__new__")]
    return [
        *((node.name, node) for _, node in nodes if node.name in wanted),
        *(each for each in made if each[0] in classes),
    ]


def _positional(node: Function) -> tuple[str, ...]:
    names = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
    return tuple(names[names[:1] in (["self"], ["cls"]) :])


def _keywords(node: Function, values: Values) -> dict[str, tuple[str, ...]]:
    """Return a function's options: the default said out loud, what its branches ask for, and other values."""
    named = [*node.args.posonlyargs, *node.args.args]
    pairs = [*zip(named[len(named) - len(node.args.defaults) :], node.args.defaults, strict=True)]
    pairs += [(each, value) for each, value in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if value]
    taken = node.args.kwarg and node.args.kwarg.arg
    for call in (each for each in ast.walk(node) if taken and isinstance(each, ast.Call) and each.args):
        if ast.unparse(call.func) in (f"{taken}.get", f"{taken}.pop") and isinstance(call.args[0], ast.Constant):
            pairs.append((ast.arg(str(call.args[0].value)), call.args[1] if call.args[1:] else ast.Constant(None)))
    found = {}
    for name, text in ((each.arg, ast.unparse(default)) for each, default in pairs):
        others = OTHER_FLAGS.get(text) or _neighbours(ast.parse(text, mode="eval").body) or ("True", *EMPTY)
        found[name] = tuple(dict.fromkeys([text, *values.get(name, ()), *others]))[:MOST]
    return found


def _find_relatives(trees: Mapping[str, ast.Module]) -> dict[str, list[str]]:
    nodes = [(path, node) for path, tree in trees.items() for node in tree.body if isinstance(node, ast.ClassDef)]
    bases = {node.name: {ast.unparse(each).rpartition(".")[2] for each in node.bases} - {"object"} for _, node in nodes}
    places = {node.name: f"{_module(path)}.{node.name}" for path, node in nodes}

    def is_near(name: str, other: str) -> bool:
        return name != other and bool(name in bases[other] or other in bases[name] or bases[name] & bases[other])

    near = {name: [places[other] for other in bases if is_near(name, other)][:MOST_RELATIVES] for name in bases}
    return {name: found for name, found in near.items() if found}
