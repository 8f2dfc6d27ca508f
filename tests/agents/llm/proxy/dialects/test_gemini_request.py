"""Bodies are written by hand from Google's API reference."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.llm.chat import Message, Speaker
from assay.agents.llm.json_fields import MalformedBody
from assay.agents.llm.proxy.dialects.base import ParsedRequest
from assay.agents.llm.proxy.dialects.gemini_request import convert_parameters, convert_schema, parse_gemini
from tables import read_tables

TABLES = read_tables(__file__)

texts = st.text(max_size=20)
names = st.sampled_from(["read", "write", "run"])
FIELDS = (
    *("contents", "parts", "text", "role", "functionCall", "functionResponse", "inlineData", "tools", "name", "args"),
    *("systemInstruction", "functionDeclarations", "generationConfig", "toolConfig", "functionCallingConfig"),
    *("stopSequences", "parameters", "properties", "items", "anyOf", "type", "response"),
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts | st.sampled_from(FIELDS), inner, max_size=4),
    max_leaves=15,
)


def parse(body: Any) -> ParsedRequest:
    return parse_gemini("toy", body)


def messages(*contents: Any, **fields: Any) -> tuple[Message, ...]:
    return parse({"contents": list(contents), **fields}).request.messages


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": part} if isinstance(part, str) else part for part in parts]}


def model(*parts: Any) -> dict[str, Any]:
    return {**user(*parts), "role": "model"}


def call(name: str, given: str = "", **args: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": args, **({"id": given} if given else {})}}


def result(name: str, output: str, given: str = "") -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": {"output": output}, **({"id": given} if given else {})}}


@given(anything)
def test_any_json_is_read_or_raises_malformed_body(body: Any) -> None:
    if isinstance(body, dict):
        with suppress(MalformedBody):
            assert isinstance(parse(body), ParsedRequest)


@given(st.lists(st.lists(names, min_size=1, max_size=4), max_size=4), st.randoms(use_true_random=False))
def test_every_call_without_an_id_gets_its_own_result(turns: list[list[str]], chance: Any) -> None:
    """Results may come in any order that keeps the order within a name; Google's API promises no more."""
    contents, number = [user("go")], 0
    for turn in turns:
        made = [(name, number + at) for at, name in enumerate(turn)]
        number += len(turn)
        contents.append(model(*(call(name, nth=nth) for name, nth in made)))
        order = [name for name, _ in made]
        chance.shuffle(order)
        queues = {name: [nth for other, nth in made if other == name] for name in order}
        contents.append(user(*(result(name, str(queues[name].pop(0))) for name in order)))
    conversation = messages(*contents)
    calls = {each.id: json.loads(each.arguments)["nth"] for message in conversation for each in message.tool_calls}
    results = {each.tool_call_id: int(str(each.content)) for each in conversation if each.role is Speaker.TOOL}
    assert len(calls) == number
    assert results == calls


@pytest.mark.parametrize(("google", "expected"), TABLES["google_schema_becomes_json_schema"])
def test_google_schema_becomes_json_schema(google: Any, expected: Any) -> None:
    assert convert_schema(google) == expected


@pytest.mark.parametrize("schema", [{"items": 3}, {"properties": []}, {"anyOf": ["x"]}])
def test_malformed_schema_raises(schema: Any) -> None:
    with pytest.raises(MalformedBody, match="must hold JSON objects"):
        convert_schema(schema)


def test_empty_schema_means_no_parameters() -> None:
    assert convert_parameters({}) == {"type": "object", "properties": {}}
