"""Any value as a text that two processes agree on: the only ground on which two versions of a project are compared.

Nothing here asks an object whether it equals another. Containers are written out by the methods of their built-in
base, whatever a subclass says of itself; objects without a representation of their own by type and public attributes.
"""

import contextlib
import hashlib
import io
import itertools
import re
import sys
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any

CAP = 2000  # characters of a text; the rest goes into a digest
CONTENT_CAP = 20000  # characters of a response, most of them alike on all sides
DEPTH = 6
ITEMS = 200
DRAWN = 50  # items taken from an iterator
NODES = 3000
ATTRIBUTES = 40
_HIDDEN = (
    (re.compile(r"\b0x[0-9a-fA-F]{8,16}\b"), "0x~"),
    (re.compile(r"\bat 0x[0-9a-fA-F]+"), "at 0x~"),
    (re.compile(r"\bid='?\d{8,}'?"), "id=~"),
    (re.compile(r"/[\w./-]*pytest-of-[^/\s'\"]+/pytest-\w+"), "<tmp>"),
    (re.compile(r"/(?:var/|usr/)?tmp/tmp[\w]{6,10}"), "<tmp>"),
    (re.compile(r"(\.pyx?(?:\", line |:))\d+"), r"\1~"),
    # the function around a local function or class is an implementation detail
    (re.compile(r"(?<![\w.])(?:(?:\w+|<lambda>|<locals>)\.)*<locals>\."), "<locals>."),
)
_CONTENTS = ("content", "data", "lines")  # of responses and of captured output
_CHANGING = (
    (re.compile(r"\b\d+\.\d+ ?s(?:ec(?:ond)?s?)?\b"), "~ s"),
    (re.compile(r"\b(?=\w*\d)(?=\w*[A-Za-z])\w{32,}\b"), "<token>"),
)


class _Writing:
    """One text in the making: its budget of nodes, and the objects around the present one."""

    def __init__(self, draw: bool, inside: bool) -> None:
        self.draw = draw
        self.inside = inside
        self.nodes = NODES
        self.open: list[int] = []


def describe(value: object, draw: bool = True, inside: bool = False) -> str:
    """Return the normalised text of a value, at most `CAP` characters and a digest.

    `draw` takes items out of iterators (which changes them); `inside` shows attributes even of objects that have a
    representation of their own.
    """
    try:
        return normalise(_text(value, 0, _Writing(draw, inside)))
    except Exception as problem:
        return "<no text: " + type(problem).__name__ + ">"


def content(value: object) -> "str | None":
    """Return the text in a response or captured output, and an object's state; None if there is neither.

    Tokens and durations are left out. The state is the public attributes, with only the types of their own attributes.
    """
    is_open = not isinstance(value, types.ModuleType)
    text = _attributes(value, DEPTH - 1, _Writing(False, False), _CONTENTS) if is_open else ""
    for name in _CONTENTS:
        try:
            held: Any = getattr(value, name, None)
        except Exception:  # a response that is not ready, or a stream
            continue
        if isinstance(held, list) and all(isinstance(each, str) for each in held):
            held = "\n".join(held)
        if isinstance(held, bytes):
            held = held.decode("utf-8", "replace")
        if isinstance(held, str):
            text = held + text
            break
    for pattern, instead in _CHANGING:
        text = pattern.sub(instead, text)
    return normalise(text, CONTENT_CAP) or None


def observe(
    function: "Callable[..., Any]", arguments: Any, end: "Callable[[], object]" = lambda: None
) -> "dict[str, Any]":
    """Return a call's result or exception, its arguments afterwards, and its output; `end` is called at its end."""
    printed, usual = io.StringIO(), sys.stdout
    sys.stdout = printed
    try:
        result = function(*arguments[0], **arguments[1])
        outcome = ["value", type_name(result), describe(result)]
    except BaseException as error:
        outcome = ["error", type_name(error), ""]
    end()
    sys.stdout = usual
    return {
        "return": outcome,
        "arguments": ["value", "", describe(arguments, inside=True)],
        "stdout": ["value", "", normalise(printed.getvalue())],
    }


def type_name(value: object) -> str:
    """Return a type's name; only the built-in types themselves have a bare name, so none can pass for them."""
    kind = type(value)
    if kind.__module__ == "builtins" and kind.__flags__ & (1 << 9) == 0:
        return kind.__name__
    return normalise(str(kind.__module__) + "." + str(kind.__qualname__))


def normalise(text: str, cap: int = CAP) -> str:
    """Return a text without addresses, temporary paths, and the functions around local functions and classes.

    It is cut to `cap` characters and the digest of the whole.
    """
    if len(text) > 200 * CAP:
        text = text[: 200 * CAP] + _digest(text[200 * CAP :])
    for pattern, instead in _HIDDEN:
        text = pattern.sub(instead, text)
    return text if len(text) <= cap else text[: cap - 60] + "...sha256:" + _digest(text)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:32]


def _text(value: object, depth: int, out: _Writing) -> str:
    out.nodes -= 1
    if value is None or value is Ellipsis or value is NotImplemented:
        return repr(value)
    if out.nodes < 0:
        return "<more>"
    plain = _plain(value, depth, out)
    if plain or depth > DEPTH or id(value) in out.open:
        return plain or "<" + type_name(value) + ">"
    out.open.append(id(value))
    try:
        return _compound(value, depth, out)
    finally:
        out.open.pop()


def _plain(value: Any, depth: int, out: _Writing) -> str:
    """Return the text of a number, a string or bytes; "" for all else."""
    if out.inside and type(value) in (bool, float) and value == value // 1:
        value = int(value)  # what a call leaves behind is equal if the numbers are
    for base, write in _PLAIN:
        if isinstance(value, base):
            return _wrap(value, base, write(value), depth, out)
    return ""


def _integer(value: int) -> str:
    plain = int.__index__(value)
    return hex(plain) if plain.bit_length() > 10000 else int.__repr__(plain)


def _float(value: float) -> str:
    return repr(float(format(float.__float__(value), ".12g")))


_PLAIN: "tuple[tuple[Any, Callable[[Any], str]], ...]" = (
    (bool, bool.__repr__),
    (int, _integer),
    (float, _float),
    (complex, lambda value: "complex(" + _float(value.real) + ", " + _float(value.imag) + ")"),
    (str, str.__repr__),
    (bytes, bytes.__repr__),
    (bytearray, bytearray.__repr__),
)


def _wrap(value: object, base: Any, text: str, depth: int, out: _Writing) -> str:
    """Return the text of a built-in's content, marked with the type and the attributes of a subclass."""
    return text if type(value) is base else type_name(value) + "(" + text + _attributes(value, depth, out) + ")"


def _compound(value: Any, depth: int, out: _Writing) -> str:
    for base, write in _COMPOUND:
        if isinstance(value, base):
            return str(write(value, depth, out))
    if type(value).__name__ in ("ExceptionInfo", "_AssertRaisesContext"):
        raised = getattr(value, "value", None) or getattr(value, "exception", None)
        return "<raised " + type_name(raised) + ">"
    if isinstance(value, io.IOBase):
        return _file(value)
    if hasattr(type(value), "__next__") and hasattr(type(value), "__iter__"):
        return _draw(value, depth, out)
    return _object(value, depth, out)


def _sequence(value: Any, depth: int, out: _Writing) -> str:
    base = list if isinstance(value, list) else tuple
    items = base.__iter__(value)
    brackets = "[]" if base is list else "()"
    text = brackets[0] + _join(items, base.__len__(value), depth, out) + brackets[1]
    return _wrap(value, base, text, depth, out)


def _join(items: "Iterable[object]", count: int, depth: int, out: _Writing) -> str:
    texts = [_text(item, depth + 1, out) for item in itertools.islice(items, ITEMS)]
    return ", ".join(texts) + (", +" + str(count - ITEMS) if count > ITEMS else "")


def _set(value: Any, depth: int, out: _Writing) -> str:
    base = set if isinstance(value, set) else frozenset
    texts = sorted(_text(item, depth + 1, out) for item in base.__iter__(value))
    return _wrap(value, base, base.__name__ + "{" + ", ".join(texts) + "}", depth, out)


def _dict(value: Any, depth: int, out: _Writing) -> str:
    pairs = [_text(k, depth + 1, out) + ": " + _text(v, depth + 1, out) for k, v in dict.items(value)]
    if type(value).__name__ != "OrderedDict":  # the order of plain dicts does not count
        pairs.sort()
    return _wrap(value, dict, "{" + ", ".join(pairs) + "}", depth, out)


def _make_namer(kind: str) -> "Callable[[Any, int, _Writing], str]":
    return lambda value, _depth, _out: "<" + kind + " " + str(value.__module__) + "." + str(value.__qualname__) + ">"


def _method(value: Any, depth: int, out: _Writing) -> str:
    return "<method " + str(getattr(value, "__qualname__", "")) + " of " + _text(value.__self__, depth + 1, out) + ">"


_COMPOUND: "tuple[tuple[Any, Callable[[Any, int, _Writing], str]], ...]" = (
    ((list, tuple), _sequence),
    ((set, frozenset), _set),
    (dict, _dict),
    (BaseException, lambda value, _depth, _out: "<exception " + type_name(value) + ">"),
    (type, _make_namer("class")),
    ((types.FunctionType, types.BuiltinFunctionType), _make_namer("function")),
    (types.MethodType, _method),
    (type(re.compile("")), lambda _value, _depth, _out: "<pattern>"),  # another may match the same
    (types.ModuleType, lambda value, _depth, _out: "<module " + str(value.__name__) + ">"),
)


def _file(value: Any) -> str:
    held = value.getvalue() if isinstance(value, (io.StringIO, io.BytesIO)) and not value.closed else ""
    return "<file " + type_name(value) + " " + repr(held) + ">"


def _draw(value: Any, depth: int, out: _Writing) -> str:
    if not out.draw:
        return "<iterator " + type_name(value) + ">"
    texts = []
    try:
        for item in itertools.islice(value, DRAWN):
            texts.append(_text(item, depth + 1, out))  # noqa: PERF401 - what came before an exception counts
    except Exception as problem:
        texts.append("raises " + type_name(problem))
    return "<iterator " + type_name(value) + " [" + ", ".join(texts) + "]>"


def _object(value: Any, depth: int, out: _Writing) -> str:
    name = type_name(value)
    if getattr(type(value), "__repr__", None) is object.__repr__:
        return name + "(" + _attributes(value, depth, out).lstrip(", ") + ")"
    try:
        own = repr(value)
    except Exception as problem:
        own = "<repr raises " + type_name(problem) + ">"
    more = _attributes(value, depth, out) if out.inside else ""
    return "<" + name + " " + str(own) + more + ">"


def _attributes(value: Any, depth: int, out: _Writing, without: "Sequence[str]" = ()) -> str:
    """Return ", name=text" for an object's public attributes that are no functions, sorted by name."""
    held = get_attributes(value)
    data = (name for name, each in held.items() if not isinstance(each, types.FunctionType) and name not in without)
    names = sorted(name for name in data if not name.startswith("_"))[:ATTRIBUTES]
    return "".join(", " + name + "=" + _text(held[name], depth + 1, out) for name in names)


def get_attributes(value: Any) -> "dict[str, object]":
    """Return the content of an object's own dictionary and slots; runs none of the object's code."""
    held: dict[str, object] = {}
    with contextlib.suppress(Exception):
        own = object.__getattribute__(value, "__dict__")
        held = {str(name): item for name, item in dict.items(own)}
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else tuple(slots):
            member = kind.__dict__.get(name)
            if isinstance(member, types.MemberDescriptorType):
                with contextlib.suppress(AttributeError):
                    held[name] = member.__get__(value, kind)
    return held
