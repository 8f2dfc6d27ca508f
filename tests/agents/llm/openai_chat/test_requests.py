from typing import Any

import pytest

from assay.agents.llm.chat import Part
from assay.agents.llm.json_fields import MalformedBody
from assay.agents.llm.openai_chat.requests import request_from_json, request_to_json


def test_parts_and_unknown_fields_are_kept() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:x", "detail": "low"}}
    body: dict[str, Any] = {
        "model": "toy",
        "messages": [{"role": "user", "content": [{"type": "text", "text": "see"}, image], "cache": {"ttl": 5}}],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {}, "strict": True}}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "s", "schema": {"type": "object"}}},
        "reasoning_effort": "high",
    }
    request = request_from_json({**body, "stream": True, "stream_options": {}, "n": 2, "seed": None})
    assert request.messages[0].content == tuple(map(Part.model_validate, ({"type": "text", "text": "see"}, image)))
    assert request_to_json(request) == body


@pytest.mark.parametrize(
    ("body", "limit", "stop"),
    [
        ({"max_tokens": 5, "stop": "a"}, 5, ("a",)),
        ({"max_completion_tokens": 6, "stop": ["a", "b"]}, 6, ("a", "b")),
        ({"max_completion_tokens": 6, "max_tokens": 5}, 6, ()),
        ({}, None, ()),
    ],
)
def test_alternative_spellings_are_read(body: dict[str, Any], limit: int | None, stop: tuple[str, ...]) -> None:
    request = request_from_json({"model": "toy", "messages": [{"role": "user", "content": "x"}], **body})
    assert (request.max_tokens, request.stop, dict(request.extra)) == (limit, stop, {})


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"messages": "x"}, "field messages must be a list"),
        ({"messages": []}, "field messages"),
        ({"messages": [{"role": "king", "content": "x"}]}, "field role"),
        ({"messages": [{"role": "user", "content": 3}]}, "field content"),
        ({"tools": [{"type": "web_search"}]}, "not a function"),
        ({"temperature": "hot"}, "field temperature"),
        ({"max_tokens": 0}, "field max_tokens"),
        ({"model": ""}, "field model"),
    ],
)
def test_wrong_field_is_named(change: dict[str, Any], problem: str) -> None:
    body = {"model": "toy", "messages": [{"role": "user", "content": "x"}], **change}
    with pytest.raises(MalformedBody, match=problem):
        request_from_json(body)
