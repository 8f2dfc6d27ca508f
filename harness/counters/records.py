"""Records of what tests compared, and whether they agree with what was expected. Pure.

A value is a pair of its kind and its content: a text, or a list of values, or of pairs of them. Two that the language
finds equal have the same one. One that cannot be written so is None.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assay.harness.domain import Agreement

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


def agree(agreement: Agreement, record: Recorded, expected: str) -> bool | None:
    """Return whether a recorded value agrees with what was expected; None if that cannot be known."""
    if not record.actual or not expected:
        return None
    actual, wanted = json.loads(record.actual), json.loads(expected)
    agrees = _COMPARE[agreement](actual, wanted)
    return None if record.own and not agrees else agrees


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


def _equal(actual: Any, wanted: Any) -> bool | None:
    if actual == wanted:
        return True
    return _are_alike(actual, wanted) if "array" in (actual[0], wanted[0]) else False


def _are_alike(actual: Any, wanted: Any) -> bool | None:
    """Return whether two values are equal but for the types of their sequences; None for two of different shapes."""
    one, other = _flatten(actual), _flatten(wanted)
    if one == other:
        return True
    return False if _find_shape(one) == _find_shape(other) else None


def _flatten(value: Any) -> Any:
    kind, content = value
    if kind == "array":
        return _flatten(content)
    return ["list", [*map(_flatten, content)]] if kind in SEQUENCES else value


def _find_shape(value: Any) -> Any:
    return [*map(_find_shape, value[1])] if value[0] == "list" else None


def _contains(actual: Any, wanted: Any) -> bool | None:
    kind, content = actual
    if kind == "str":
        return wanted[1] in content if wanted[0] == "str" else None
    if kind == "dict":
        return wanted in [key for key, _ in content]
    return wanted in content if kind in {"list", "tuple", "set"} else None


def _finds(actual: Any, wanted: Any) -> bool | None:
    if (actual[0], wanted[0]) != ("str", "str"):
        return None
    try:
        return re.search(wanted[1], actual[1]) is not None
    except re.error:
        return None


_COMPARE = {
    Agreement.EQUAL: _equal,
    Agreement.ALIKE: _are_alike,
    Agreement.WITHIN: _contains,
    Agreement.FOUND: _finds,
}


def judge_passes(
    agreement: Agreement, records: Sequence[Recorded], answers: Sequence[str], *, certain: bool
) -> bool | None:
    """Return whether all passes through an assertion agree with the answers; None if that cannot be known.

    Passes have the order of the answers. Where a pass may be left out, each has to agree with any answer.
    """
    if not records:
        return False if certain else None
    in_order = certain and len(records) == len(answers)
    found = list[bool | None]()
    for number, record in enumerate(records):
        any_of = [agree(agreement, record, answer) for answer in dict.fromkeys(answers)]
        agrees = True if True in any_of else None if None in any_of else False
        if in_order and agrees and agree(agreement, record, answers[number]) is not True:
            agrees = None
        found.append(agrees)
    if certain and not in_order:
        found.append(None)
    return False if False in found else None if None in found else True
