"""Records of what tests compared, and whether they agree with what was expected. Pure.

A value is a pair of its kind and its content: a text, or a list of values, or of pairs of them. Two that the language
finds equal have the same one. One that cannot be written so is None.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

UNORDERED = frozenset({"set", "dict"})
SEQUENCES = frozenset({"list", "tuple", "array"})


@dataclass(frozen=True, slots=True)
class Recorded:
    """One pass through a sealed assertion."""

    actual: str
    """Canonical form of the value; empty if it has none."""
    own: bool
    """Whether it may equal what differs from it."""
    expected: str = ""
    """Canonical form of what it was compared with, where that was recorded and cannot equal what differs from it."""


def read_records(content: bytes) -> dict[int, list[Recorded]]:
    """Read a file of records, by seal and in order. What is no record is left out."""
    found = dict[int, list[Recorded]]()
    for line in content.splitlines():
        try:
            seal, actual, own, expected, other = json.loads(line)
            record = Recorded(_write(actual), bool(own), "" if other else _write(expected))
            found.setdefault(int(seal), []).append(record)
        except (ValueError, TypeError, AttributeError, RecursionError):
            continue
    return found


def agree(record: Recorded, expected: str, *, alike: bool) -> bool | None:
    """Return whether a recorded value equals an expected one, for ``alike`` in any kind of sequence; None if open."""
    if not record.actual or not expected:
        return None
    if record.actual == expected:
        return True
    actual, wanted = json.loads(record.actual), json.loads(expected)
    if record.own or not (alike or '"array"' in record.actual + expected):
        return None if record.own else False
    one, other = _flatten(actual), _flatten(wanted)
    same_shape = _find_shape(one) == _find_shape(other)  # otherwise one value may stand for many
    return one == other or (False if same_shape else None)


def list_texts(written: str) -> list[str]:
    """Return the text that a canonical form is one of; nothing for another kind."""
    kind, content = json.loads(written)
    return [content] if kind == "str" else []


def _write(value: Any) -> str:
    return json.dumps(_sort(value)) if value else ""


def _sort(value: Any) -> Any:
    """Put what has no order into one."""
    kind, content = value
    if isinstance(content, str):
        return [str(kind), content]
    if kind == "array":  # a list, or a single value
        return ["array", _sort(content)]
    inner = [[*map(_sort, each)] if kind == "dict" else _sort(each) for each in content]
    return [str(kind), sorted(inner, key=json.dumps) if kind in UNORDERED else inner]


def _flatten(value: Any) -> Any:
    kind, content = value
    if kind == "array":
        return _flatten(content)
    return ["list", [*map(_flatten, content)]] if kind in SEQUENCES else value


def _find_shape(value: Any) -> Any:
    return [*map(_find_shape, value[1])] if value[0] == "list" else None


def judge_passes(records: Sequence[Recorded], answers: Sequence[str], *, alike: bool, certain: bool) -> bool | None:
    """Return whether all passes through an assertion agree with the answers; None if that cannot be known.

    Passes have the order of the answers. Where a pass may be left out, each has to agree with any answer.
    """
    if not records:
        return False if certain else None
    in_order = certain and len(records) == len(answers)
    found = list[bool | None]()
    for number, record in enumerate(records):
        any_of = [agree(record, answer, alike=alike) for answer in dict.fromkeys(answers)]
        agrees = True if True in any_of else None if None in any_of else False
        if in_order and agrees and agree(record, answers[number], alike=alike) is not True:
            agrees = None
        found.append(agrees)
    if certain and not in_order:
        found.append(None)
    return False if False in found else None if None in found else True
