from typing import Any

import pytest

from assay.agents.llm.json_fields import MalformedBody
from assay.agents.llm.proxy.dialects.gemini_schema import convert_parameters, convert_schema


@pytest.mark.parametrize(
    ("google", "expected"),
    [
        ({"type": "STRING"}, {"type": "string"}),
        ({"type": "STRING", "nullable": True}, {"type": ["string", "null"]}),
        ({"type": "STRING", "enum": ["a"], "nullable": True}, {"type": ["string", "null"], "enum": ["a", None]}),
        (
            {"type": "ARRAY", "items": {"type": "INTEGER"}, "minItems": "1"},
            {"type": "array", "items": {"type": "integer"}, "minItems": 1},
        ),
        ({"max_items": 3, "property_ordering": []}, {"maxItems": 3}),
        ({"anyOf": [{"type": "NUMBER"}, {"type": "BOOLEAN"}]}, {"anyOf": [{"type": "number"}, {"type": "boolean"}]}),
        ({"properties": {"max_items": {"type": "NUMBER"}}}, {"properties": {"max_items": {"type": "number"}}}),
        ({"enum": ["TYPE"], "description": "STRING"}, {"enum": ["TYPE"], "description": "STRING"}),
    ],
)
def test_google_schema_becomes_json_schema(google: Any, expected: Any) -> None:
    assert convert_schema(google) == expected


@pytest.mark.parametrize("schema", [{"items": 3}, {"properties": []}, {"anyOf": ["x"]}])
def test_malformed_schema_raises(schema: Any) -> None:
    with pytest.raises(MalformedBody, match="must hold JSON objects"):
        convert_schema(schema)


def test_empty_schema_means_no_parameters() -> None:
    assert convert_parameters({}) == {"type": "object", "properties": {}}
