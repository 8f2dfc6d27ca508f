"""A function by its import name, the arguments of one call, and places inside these."""

import importlib
import inspect
import types
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any

from . import texts, values

_INSIDE = ("__func__", "__wrapped__", "fget", "fset", "fdel", "func", "callback")
# a step of a path: ["item", number], ["key", literal] or ["attribute", name]
DEEPEST = 5
MOST_LEAVES = 60


def find_functions(module: str, qualname: str) -> "Iterator[types.FunctionType]":
    """Yield the functions that a name leads to, through decorators, properties and bindings.

    Raises AttributeError, and whatever importing the module raises.
    """
    held: Any = importlib.import_module(module)
    for part in qualname.split("."):
        held = inspect.getattr_static(held, part) if isinstance(held, type) else getattr(held, part)  # not bound
    yield from _unwrap(held, 0)


def _unwrap(held: Any, depth: int) -> "Iterator[types.FunctionType]":
    if isinstance(held, types.FunctionType):
        yield held
    for name in _INSIDE if depth < 6 else ():
        inner = getattr(held, name, None)
        if inner is not None and not isinstance(held, type):
            yield from _unwrap(inner, depth + 1)


def get_parameters(code: "CodeType") -> "list[str]":
    """Return a function's parameters in order, starred ones with their stars."""
    names, several, others = inspect.getargs(code)
    return [*names, *(["*" + several] if several else []), *(["**" + others] if others else [])]


def get_arguments(frame: "FrameType") -> Any:
    """Return (positional, by keyword) of a call whose body has not begun; None if it has."""
    code, held = frame.f_code, frame.f_locals
    names, several, others = inspect.getargs(code)
    if {*names, several, others} - {None} != {*held}.difference(code.co_freevars):
        return None
    positional, by_name = names[: code.co_argcount], names[code.co_argcount :]
    keywords = dict({name: held[name] for name in by_name}, **held.get(others or "", {}))
    return (*(held[name] for name in positional), *held.get(several or "", ())), keywords


def find_leaves(arguments: Any) -> "list[dict[str, Any]]":
    """Return the places of plain data inside a call's arguments: ``path`` and ``value``, a literal."""
    found: list[dict[str, Any]] = []
    for number, argument in enumerate(arguments[0]):
        _walk(argument, [["item", 0], ["item", number]], found)
    for name in sorted(arguments[1]):
        _walk(arguments[1][name], [["item", 1], ["key", repr(name)]], found)
    return found[:MOST_LEAVES]


def _walk(value: Any, path: "list[Any]", found: "list[dict[str, Any]]") -> None:
    if len(found) >= MOST_LEAVES or len(path) > DEEPEST:
        return
    text = values.literal(value)
    if text:
        found.append({"path": path, "value": text})
    for step, inner in _inside(value):
        _walk(inner, path + [step], found)  # noqa: RUF005 - lists of unlike things


def _inside(value: Any) -> "Iterator[tuple[Any, Any]]":
    if isinstance(value, (list, tuple)):
        for number, item in enumerate(value[:10]):
            yield ["item", number], item
    elif isinstance(value, dict):
        for key, item in list(value.items())[:10]:
            if values.literal(key):
                yield ["key", values.literal(key)], item
    elif not isinstance(value, (type, types.ModuleType, types.FunctionType)) and type(value).__module__ != "builtins":
        held = texts.get_attributes(value)
        for name in sorted(name for name in held if not name.startswith("_")):
            yield ["attribute", name], held[name]


def replace_leaf(root: Any, path: "list[Any]", new: Any) -> Any:
    """Put another value at a place inside an object, in place where that is possible; return the object.

    Raises LookupError, AttributeError, TypeError: there is no such place in it on this side.
    """
    if not path:
        return new
    kind, where = path[0]
    if kind == "attribute":
        held = replace_leaf(texts.get_attributes(root)[where], path[1:], new)
        object.__setattr__(root, where, held)
        return root
    at = values.read_literal(where) if kind == "key" else where
    inner = replace_leaf(root[at], path[1:], new)
    if kind == "key" or isinstance(root, list):
        root[at] = inner
        return root
    items = tuple(root[:where]) + (inner,) + tuple(root[where + 1 :])  # noqa: RUF005
    return items if type(root) is tuple else type(root)(*items)
