"""Google's schema format, converted to JSON Schema. Pure."""

import re

from pydantic import JsonValue

from assay.agents.llm.json_fields import Json, require_object

_COUNTS = {"minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"}
"""64-bit integers, which Google writes as strings."""
_GOOGLE_ONLY = {"nullable", "propertyOrdering"}


def convert_parameters(schema: Json) -> Json:
    """Return the JSON Schema of a function's parameters; an empty schema means that it takes none."""
    return convert_schema(schema) or {"type": "object", "properties": {}}


def convert_schema(schema: Json) -> Json:
    """Return the JSON Schema: types in lower case, ``nullable`` as a type, names in camelCase. Raises MalformedBody."""
    camel = {re.sub("_([a-z])", lambda found: found[1].upper(), name): value for name, value in schema.items()}
    converted = {name: _value(name, value) for name, value in camel.items() if name not in _GOOGLE_ONLY}
    if schema.get("nullable") is True:
        converted |= {name: _or_null(converted[name]) for name in ("type", "enum") if name in converted}
    return converted


def _value(name: str, value: JsonValue) -> JsonValue:
    if name == "type" and isinstance(value, str):
        return value.lower()
    if name in _COUNTS and isinstance(value, str) and value.isdecimal():
        return int(value)
    if name == "properties":
        return {key: convert_schema(require_object(each, name)) for key, each in require_object(value, name).items()}
    if name == "items":
        return convert_schema(require_object(value, name))
    if name == "anyOf" and isinstance(value, list):
        return [convert_schema(require_object(each, name)) for each in value]
    return value


def _or_null(value: JsonValue) -> JsonValue:
    """Add null to a type, or to the values of an enum."""
    return [*value, None] if isinstance(value, list) else [value, "null"]
