"""Google's own spelling of schemas, which is nearly that of JSON schemas. Pure."""

import re

from pydantic import JsonValue

from assay.agents.llm.forms.said import entry
from assay.agents.llm.wire import Json

_COUNTS = {"minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"}
"""Whole numbers of 64 bits, which Google writes as texts."""
_NOT_OURS = {"nullable", "propertyOrdering"}


def parameters_of(schema: Json) -> Json:
    """Return the parameters of a function as a JSON schema; without any it takes none."""
    return to_json_schema(schema) or {"type": "object", "properties": {}}


def to_json_schema(schema: Json) -> Json:
    """Return a schema as JSON schema: types in small letters, ``nullable`` as one more type, names without underscores.

    Raises:
        NotOfThisForm: a part of it is no schema.
    """
    spelt = {re.sub("_([a-z])", lambda found: found[1].upper(), name): value for name, value in schema.items()}
    told = {name: _value(name, value) for name, value in spelt.items() if name not in _NOT_OURS}
    if schema.get("nullable") is True:
        told |= {name: _or_null(told[name]) for name in ("type", "enum") if name in told}
    return told


def _value(name: str, value: JsonValue) -> JsonValue:
    if name == "type" and isinstance(value, str):
        return value.lower()
    if name in _COUNTS and isinstance(value, str) and value.isdecimal():
        return int(value)
    if name == "properties":
        return {key: to_json_schema(entry(each, name)) for key, each in entry(value, name).items()}
    if name == "items":
        return to_json_schema(entry(value, name))
    if name == "anyOf" and isinstance(value, list):
        return [to_json_schema(entry(each, name)) for each in value]
    return value


def _or_null(value: JsonValue) -> JsonValue:
    """Add null to a type, or to the values of an enum."""
    return [*value, None] if isinstance(value, list) else [value, "null"]
