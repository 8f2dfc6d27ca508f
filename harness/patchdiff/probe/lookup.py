"""Functions by the names they are imported by."""

import importlib
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_INSIDE = ("__func__", "__wrapped__", "fget", "fset", "fdel", "func", "callback")


def functions_at(module: str, qualname: str) -> "Iterator[types.FunctionType]":
    """Yield the functions that a name leads to, through decorators, properties and bindings.

    Raises:
        ImportError, AttributeError, or whatever importing the module raises.
    """
    held: Any = importlib.import_module(module)
    for part in qualname.split("."):
        held = _member(held, part)
    yield from _unwrapped(held, 0)


def _member(holder: Any, name: str) -> Any:
    """Return a member as it is stored, not as it is bound."""
    if not isinstance(holder, type):
        return getattr(holder, name)
    for kind in holder.__mro__:
        if name in kind.__dict__:
            return kind.__dict__[name]
    raise AttributeError(name)


def _unwrapped(held: Any, depth: int) -> "Iterator[types.FunctionType]":
    if isinstance(held, types.FunctionType):
        yield held
    for name in _INSIDE if depth < 6 else ():
        inner = getattr(held, name, None)
        if inner is not None and not isinstance(held, type):
            yield from _unwrapped(inner, depth + 1)
