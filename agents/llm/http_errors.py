"""Errors from an endpoint's HTTP replies. Pure.

The status decides. The text only separates what shares a status: a prompt that is too long from other bad requests, and
a used-up quota from a rate limit.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from pydantic import JsonValue

from assay.agents.llm.errors import AccessDenied, ContextTooLong, ModelError, ModelUnavailable, RequestRefused

DENIED = frozenset({401, 402, 403, 404})
BUSY = frozenset({408, 409, 429})
TOO_LONG = frozenset({400, 413, 422})  # statuses that servers give a prompt that is too long

_LENGTH_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error"})
_LENGTH_WORDS = ("context length", "context window", "context size", "prompt is too long")
_QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
_MAX_MESSAGE = 300  # characters of an endpoint's message that an error repeats


@dataclass(frozen=True, slots=True)
class _ErrorBody:
    message: str
    codes: frozenset[str]


def make_model_error(status: int, headers: Mapping[str, str], text: str, *, now: datetime | None = None) -> ModelError:
    """Return the error of a status other than 2xx, by lower-case headers; ``now`` is for a ``Retry-After`` date."""
    body = _read(text)
    problem = f"the model's endpoint answers with status {status}: {body.message or 'no explanation'}"
    if body.codes & _QUOTA_CODES:
        return AccessDenied(f"{problem}; raise the quota, or use another key", status=status)
    if status in BUSY or status >= 500:
        return ModelUnavailable(problem, status=status, retry_after=_wait(headers, now or datetime.now(UTC)))
    if status in DENIED or 300 <= status < 400:
        return AccessDenied(f"{problem}; check the address, the key and the model's name", status=status)
    is_too_long = body.codes & _LENGTH_CODES or any(phrase in body.message.lower() for phrase in _LENGTH_WORDS)
    if status in TOO_LONG and is_too_long:
        return ContextTooLong(problem, status=status)
    return RequestRefused(problem, status=status)


def is_web_page(text: str) -> bool:
    """Return whether a body is HTML, which no API of a model answers with."""
    return text.lstrip()[:200].lower().startswith(("<!doctype html", "<html", "<head", "<body"))


def _read(text: str) -> _ErrorBody:
    """Find the message, which servers put into ``error.message``, ``error``, ``message``, ``detail`` or plain text."""
    if is_web_page(text):
        return _ErrorBody("a web page", frozenset())
    try:
        body: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return _ErrorBody(_one_line(text), frozenset())
    error = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(error, dict):
        return _ErrorBody(_one_line(str(error)), frozenset())
    message = error.get("message") or error.get("detail") or ""
    codes = {code for name in ("code", "type") if isinstance(code := error.get(name), str)}
    return _ErrorBody(_one_line(str(message)), frozenset(codes))


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_MESSAGE else f"{line[:_MAX_MESSAGE]}..."


def _wait(headers: Mapping[str, str], now: datetime) -> float:
    """Return the seconds in ``Retry-After``, a number or a date; 0 if it is absent or unreadable."""
    asked = headers.get("retry-after", "").strip()
    try:
        seconds = float(asked)
    except ValueError:
        seconds = _until(asked, now)
    return seconds if 0 < seconds < float("inf") else 0.0


def _until(date: str, now: datetime) -> float:
    try:
        then = parsedate_to_datetime(date)
    except ValueError:
        return 0.0
    return (then.replace(tzinfo=then.tzinfo or UTC) - now).total_seconds()
