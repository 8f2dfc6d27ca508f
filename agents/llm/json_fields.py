"""Fields of JSON bodies with their types checked. Pure."""

from collections.abc import Mapping

from pydantic import JsonValue, ValidationError

Json = dict[str, JsonValue]


class MalformedBody(ValueError):
    """A body does not follow its API; the message names the field."""


class NoReply(MalformedBody):
    """A body is no reply of the API at all."""


def require_list(value: JsonValue, name: str) -> list[JsonValue]:
    if not isinstance(value, list):
        raise MalformedBody(f"field {name} must be a list")
    return value


def require_object(value: JsonValue, name: str) -> Json:
    if not isinstance(value, dict):
        raise MalformedBody(f"field {name} must hold JSON objects")
    return value


def require_objects(value: JsonValue, name: str) -> list[Json]:
    """Return the value of the field ``name``, a list of objects; empty for None. Raises MalformedBody."""
    return [] if value is None else [require_object(each, name) for each in require_list(value, name)]


def require_text(body: Json, name: str) -> str:
    """Return a field that must be a string. Raises MalformedBody."""
    found = body.get(name)
    if not isinstance(found, str):
        raise MalformedBody(f"field {name} must be a string")
    return found


def text_or_empty(body: Mapping[str, JsonValue], name: str) -> str:
    """Return a field if it is a string, otherwise an empty string."""
    value = body.get(name)
    return value if isinstance(value, str) else ""


def describe_invalid(error: ValueError) -> str:
    """Return one line that names the first wrong field; pydantic's own text repeats the input, which may be long."""
    if not isinstance(error, ValidationError):
        return str(error).splitlines()[0]
    first = error.errors(include_url=False, include_input=False)[0]
    return f"field {'.'.join(str(place) for place in first['loc'])}: {first['msg']}"
