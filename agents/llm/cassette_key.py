"""Keys of recorded questions, and differences between two questions. Pure."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator

from pydantic import JsonValue

from assay.agents.llm.chat import Request
from assay.agents.llm.openai_chat.requests import request_to_json

Normalise = Callable[[str], str]
"""Replaces the parts of a request's text that differ between runs by fixed ones."""

_VOLATILE = (
    (re.compile(r"\b[0-9a-f]{64}\b|\b(?=[0-9a-f]*[a-f])(?=[0-9a-f]*[0-9])[0-9a-f]{12}\b"), "<id>"),
    (re.compile(r"(/tmp/|/var/folders/)[\w.+-]*[\w+-]"), r"\1<name>"),
    (re.compile(r"\b\d+\.\d+ ?(s|ms|sec|seconds)\b"), "<time>"),
    (re.compile(r"\b0x[0-9a-f]{6,16}\b"), "<address>"),
    (re.compile(r"\b(P?PID|PGID): \d+\b"), r"\1: <process>"),
)
_SHOWN = 40  # characters shown on either side of a difference


def keep_text(text: str) -> str:
    return text


def mask_ids(text: str) -> str:
    """Replace container and process ids, temporary names, durations and addresses, which differ between runs."""
    for pattern, name in _VOLATILE:
        text = pattern.sub(name, text)
    return text


def hash_question(request: Request, normalise: Normalise = keep_text) -> str:
    """Return the sha256 of a question; the order of its fields does not matter."""
    text = json.dumps(question(request, normalise), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def question(request: Request, normalise: Normalise = keep_text) -> dict[str, JsonValue]:
    """Return the fields that identify a question: posted body with normalised texts, sample number, role."""
    body = {name: map_texts(value, normalise) for name, value in request_to_json(request).items()}
    return {**body, "sample": request.sample, **({"role": request.role} if request.role else {})}


def map_texts(value: JsonValue, change: Normalise) -> JsonValue:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [map_texts(item, change) for item in value]
    if isinstance(value, dict):
        return {name: map_texts(item, change) for name, item in value.items()}
    return value


def nearest_difference(wanted: JsonValue, known: Iterable[JsonValue]) -> str:
    """Describe the first difference of the most similar known question; empty if there is none."""
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
    """Yield the path and the JSON of every value that is no container, or an empty one."""
    if isinstance(value, dict) and value:
        for name in sorted(value):
            yield from _leaves(value[name], f"{place}.{name}" if place else name)
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from _leaves(item, f"{place}[{index}]")
    else:
        yield place, json.dumps(value, sort_keys=True)


def _around(one: str, other: str) -> tuple[str, str]:
    """Cut two texts down to the surroundings of their first difference."""
    pairs = enumerate(zip(one, other, strict=False))
    at = next((index for index, (left, right) in pairs if left != right), min(len(one), len(other)))
    start = max(0, at - _SHOWN)
    return _cut(one, start, at + _SHOWN), _cut(other, start, at + _SHOWN)


def _cut(text: str, start: int, end: int) -> str:
    return ("..." if start else "") + text[start:end] + ("..." if end < len(text) else "")
