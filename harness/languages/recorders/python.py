"""Records what a test compares; the source stands at the end of a hidden test file, where answers were taken out.

It runs in any Python from 3.5 on and imports nothing of Assay. The functions of built-in types read a value: no class
of the product can override them.
"""

import json as assay_json
import os as assay_os
import sys as assay_sys

ASSAY_RECORDS = "/tmp/assay-records"
ASSAY_DEEPEST = 60
ASSAY_COMPARING = ("__eq__", "__ne__")
assay_list_bases = type.__dict__["__mro__"].__get__


def assay_record(seal: int, actual: object, expected: object) -> None:
    """Append a line to the records: the seal, both values, and whether a class of theirs has an equality of its own."""
    line = [seal]  # type: list[object]
    for value in (actual, expected):
        own = []  # type: list[object]
        try:
            line += [assay_reduce(value, own, 0), bool(own)]
        except (TypeError, ValueError, RecursionError):
            line += [None, True]
    file = assay_os.open(ASSAY_RECORDS, assay_os.O_WRONLY | assay_os.O_APPEND | assay_os.O_CREAT, 0o666)
    assay_os.write(file, assay_json.dumps(line).encode("ascii") + b"\n")
    assay_os.close(file)


def assay_reduce(value: object, own: "list[object]", depth: int) -> "list[object]":
    """Return a value as lists of texts: two have the same ones if they are equal; raises TypeError for other types."""
    numpy = assay_sys.modules.get("numpy")
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
        if value.dtype.kind not in "biuUS" and value.dtype.name != "float64":
            own.append(numpy)
        if type(value) is numpy.ndarray:
            return ["array", assay_reduce(numpy.ndarray.tolist(value), own, depth)]
        value = numpy.generic.item(value) if isinstance(value, numpy.generic) else value
    bases = assay_list_bases(type(value))
    kind = next((each for each in ASSAY_KINDS if each in bases), None)
    if kind is None or depth > ASSAY_DEEPEST:
        raise TypeError
    if any(getattr(type(value), each, None) is not getattr(kind, each, None) for each in ASSAY_COMPARING):
        own.append(kind)
    name, read = ASSAY_KINDS[kind]
    return [name, assay_list(name, read(value), own, depth + 1)]  # type: ignore[operator]


def assay_list(name: str, content, own: "list[object]", depth: int) -> object:  # type: ignore[no-untyped-def]
    if name == "dict":
        return [[assay_reduce(each, own, depth) for each in pair] for pair in content]
    if name in ("list", "tuple", "set"):
        return [assay_reduce(each, own, depth) for each in content]
    return content


def assay_write(number: float) -> str:
    whole = float.is_integer(number)
    return int.__format__(float.__trunc__(number), "x") if whole else float.__repr__(number)


ASSAY_KINDS = {  # type: dict[type, tuple[str, object]]
    type(None): ("none", lambda _: ""),
    int: ("number", lambda value: int.__format__(value, "x")),
    float: ("number", assay_write),
    str: ("str", str.__str__),
    bytes: ("bytes", bytes.hex),
    bytearray: ("bytes", bytearray.hex),
    list: ("list", list.__iter__),
    tuple: ("tuple", tuple.__iter__),
    set: ("set", set.__iter__),
    frozenset: ("set", frozenset.__iter__),
    dict: ("dict", dict.items),
}
