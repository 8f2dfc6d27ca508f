"""When two requests are the same question, and how two that are not differ. Pure."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator

from pydantic import JsonValue

from assay.agents.llm.chat import Request
from assay.agents.llm.openai_chat.requests import request_to_json

Steady = Callable[[str], str]
"""Replaces what differs from run to run, in the text of a request, by what does not."""

_VOLATILE = (
    (re.compile(r"\b[0-9a-f]{64}\b|\b(?=[0-9a-f]*[a-f])(?=[0-9a-f]*[0-9])[0-9a-f]{12}\b"), "<id>"),
    (re.compile(r"(/tmp/|/var/folders/)[\w.+-]*[\w+-]"), r"\1<name>"),
    (re.compile(r"\b\d+\.\d+ ?(s|ms|sec|seconds)\b"), "<time>"),
    (re.compile(r"\b0x[0-9a-f]{6,16}\b"), "<address>"),
    (re.compile(r"\b(P?PID|PGID): \d+\b"), r"\1: <process>"),
)
_SHOWN = 40
"""Characters of a text that are shown on either side of a difference."""


def unchanged(text: str) -> str:
    """Return a text as it is."""
    return text


def without_volatile(text: str) -> str:
    """Replace ids of containers and processes, temporary names, durations, addresses: what a rerun shows otherwise."""
    for pattern, name in _VOLATILE:
        text = pattern.sub(name, text)
    return text


def key_of(request: Request, steady: Steady = unchanged) -> str:
    """Return the sha256 of a question and its sample's number; the order of fields does not count."""
    return hashlib.sha256(_canonical(question(request, steady)).encode()).hexdigest()


def question(request: Request, steady: Steady = unchanged) -> dict[str, JsonValue]:
    """Return what a key is made of: the posted body with steady texts, and the sample's number."""
    return {
        **{name: _each_text(value, steady) for name, value in request_to_json(request).items()},
        "sample": request.sample,
    }


def _each_text(value: JsonValue, change: Steady) -> JsonValue:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_each_text(item, change) for item in value]
    if isinstance(value, dict):
        return {name: _each_text(item, change) for name, item in value.items()}
    return value


def _canonical(value: JsonValue) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def nearest_difference(wanted: JsonValue, known: Iterable[JsonValue]) -> str:
    """Say where the recorded question that is most like a wanted one differs from it first; empty if there is none."""
    leaves = dict(_leaves(wanted))
    others = [dict(_leaves(other)) for other in known]
    if not others:
        return ""
    nearest = min(others, key=lambda other: len(leaves.items() ^ other.items()))
    places = [place for place in (*leaves, *nearest) if leaves.get(place) != nearest.get(place)]
    if not places:
        return ""
    place = places[0]
    asked, recorded = _around(leaves.get(place, "nothing"), nearest.get(place, "nothing"))
    return f"at {place} the question has {asked} and the nearest recorded one {recorded}"


def _leaves(value: JsonValue, place: str = "") -> Iterator[tuple[str, str]]:
    """Yield every plain value with the way to it, as JSON."""
    if isinstance(value, dict) and value:
        for name in sorted(value):
            yield from _leaves(value[name], f"{place}.{name}" if place else name)
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from _leaves(item, f"{place}[{index}]")
    else:
        yield place, json.dumps(value, sort_keys=True)


def _around(one: str, other: str) -> tuple[str, str]:
    """Cut two texts to the neighbourhood of their first difference."""
    pairs = enumerate(zip(one, other, strict=False))
    at = next((index for index, (left, right) in pairs if left != right), min(len(one), len(other)))
    start = max(0, at - _SHOWN)
    return _cut(one, start, at + _SHOWN), _cut(other, start, at + _SHOWN)


def _cut(text: str, start: int, end: int) -> str:
    return ("..." if start else "") + text[start:end] + ("..." if end < len(text) else "")
