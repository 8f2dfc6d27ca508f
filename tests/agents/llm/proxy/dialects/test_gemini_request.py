"""Bodies are written by hand from Google's API reference."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.llm.chat import JSON_MODE, Message, Role, Tool, ToolCall
from assay.agents.llm.json_fields import MalformedBody
from assay.agents.llm.proxy.dialects.base import ParsedRequest
from assay.agents.llm.proxy.dialects.gemini_request import parse_gemini

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


def test_whole_conversation() -> None:
    conversation = messages(
        user("fix it"),
        model({"text": "hm", "thought": True}, "I ", "look.", {**call("read", path="a.py"), "thoughtSignature": "s"}),
        user(result("read", "x = 1")),
        systemInstruction={"parts": [{"text": "be brief"}]},
    )
    assert conversation == (
        Message(role=Role.SYSTEM, content="be brief"),
        Message(role=Role.USER, content="fix it"),
        Message(
            role=Role.ASSISTANT,
            content="I look.",
            reasoning="hm",
            tool_calls=(ToolCall(id="call_0", name="read", arguments='{"path": "a.py"}'),),
        ),
        Message(role=Role.TOOL, content="x = 1", tool_call_id="call_0"),
    )


def test_results_without_ids_are_matched_to_calls_by_name_and_order() -> None:
    conversation = messages(
        user("go"),
        model(call("read", path="a"), call("run"), call("read", path="b")),
        user(result("read", "of a"), result("read", "of b"), result("run", "ran")),
        model(call("read", path="c")),
        user(result("read", "of c")),
    )
    assert [(each.tool_call_id, each.content) for each in conversation if each.role is Role.TOOL] == [
        ("call_0", "of a"),
        ("call_2", "of b"),
        ("call_1", "ran"),
        ("call_3", "of c"),
    ]


def test_results_with_ids_are_matched_by_id() -> None:
    conversation = messages(
        user("go"),
        model(call("read", "x"), call("read", "y"), call("read")),
        user(result("read", "of y", "y"), result("read", "of the nameless", "z"), result("read", "of x")),
    )
    results = [(each.tool_call_id, each.content) for each in conversation if each.role is Role.TOOL]
    assert results == [("y", "of y"), ("call_2", "of the nameless"), ("x", "of x")]


@pytest.mark.parametrize(
    "contents",
    [
        [user("go"), user(result("read", "of nothing"))],
        [user("go"), model(call("run")), user(result("read", "another's"))],
        [user("go"), model(call("read", "x")), user(result("read", "of y", "y"))],
        [user("go"), model(call("read")), user(result("read", "once"), result("read", "twice"))],
        [user("go"), model(call("read")), user("never mind"), model("yes"), user(result("read", "late"))],
    ],
)
def test_result_without_a_call_raises(contents: list[Any]) -> None:
    with pytest.raises(MalformedBody, match=r"functionResponse read.* belongs to no call"):
        messages(*contents)


def test_results_directly_follow_their_calls() -> None:
    """Chat endpoints reject a call whose result is not in the messages directly after it."""
    image = {"inlineData": {"mimeType": "image/png", "data": "aGk="}}
    shown = {"functionResponse": {"name": "run", "response": {"error": "none"}, "parts": [image]}}
    conversation = messages(
        user("go"), model(call("read")), model(call("run")), user("see:", result("read", "one")), user(shown, "so?")
    )
    assert [message.role.value for message in conversation] == ["user", "assistant", "tool", "tool", "user"]
    assert [each.name for each in conversation[1].tool_calls] == ["read", "run"]
    assert [message.content for message in conversation[2:4]] == ["one", '{"error": "none"}']
    assert isinstance(conversation[4].content, tuple)
    assert [part.model_dump() for part in conversation[4].content] == [
        {"type": "text", "text": "see:"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
        {"type": "text", "text": "so?"},
    ]


def test_data_other_than_images_becomes_a_file() -> None:
    (message,) = messages(user("read this", {"inlineData": {"mimeType": "application/pdf", "data": "JQ=="}}))
    assert isinstance(message.content, tuple)
    assert message.content[1].model_dump() == {
        "type": "file",
        "file": {"filename": "file", "file_data": "data:application/pdf;base64,JQ=="},
    }


def test_functions_become_tools_with_either_schema_format() -> None:
    exact: Any = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    googles = {
        "type": "OBJECT",
        "properties": {
            "lines": {"type": "ARRAY", "items": {"type": "INTEGER", "format": "int32"}, "minItems": "1"},
            "mode": {"type": "STRING", "enum": ["fast", "slow"], "nullable": True},
            "type": {"anyOf": [{"type": "NUMBER"}, {"type": "BOOLEAN"}]},
            "max_items": {"type": "ARRAY", "items": {}, "max_items": 3, "property_ordering": []},
        },
        "propertyOrdering": ["mode", "lines"],
    }
    declared = [
        {"name": "read", "description": "Reads.", "parametersJsonSchema": exact},
        {"name": "run", "parameters": googles},
        {"name": "rest"},
    ]
    tools = parse({"contents": [user("go")], "tools": [{"functionDeclarations": declared}]}).request.tools
    assert tools == (
        Tool(name="read", description="Reads.", parameters=exact),
        Tool(
            name="run",
            parameters={
                "type": "object",
                "properties": {
                    "lines": {"type": "array", "items": {"type": "integer", "format": "int32"}, "minItems": 1},
                    "mode": {"type": ["string", "null"], "enum": ["fast", "slow", None]},
                    "type": {"anyOf": [{"type": "number"}, {"type": "boolean"}]},
                    "max_items": {"type": "array", "items": {}, "maxItems": 3},
                },
            },
        ),
        Tool(name="rest", parameters={"type": "object", "properties": {}}),
    )


def test_googles_own_tools_are_left_out_or_rejected() -> None:
    declared = {"functionDeclarations": [{"name": "read"}]}
    some = parse({"contents": [user("go")], "tools": [declared, {"googleSearch": {}}]})
    assert some.left_out == ("googleSearch",)
    assert [tool.name for tool in some.request.tools] == ["read"]
    with pytest.raises(MalformedBody, match="not available: googleSearch;"):
        parse({"contents": [user("go")], "tools": [{"googleSearch": {}}]})


@pytest.mark.parametrize(
    ("config", "choice", "left"),
    [
        ({"mode": "AUTO"}, "auto", ["read", "run"]),
        ({"mode": "ANY"}, "required", ["read", "run"]),
        ({"mode": "ANY", "allowedFunctionNames": ["run"]}, "required", ["run"]),
        ({"mode": "NONE"}, "none", ["read", "run"]),
        ({}, None, ["read", "run"]),
    ],
)
def test_function_calling_mode_restricts_the_tools(config: Any, choice: str | None, left: list[str]) -> None:
    tools = [{"functionDeclarations": [{"name": "read"}, {"name": "run"}]}]
    request = parse({"contents": [user("go")], "tools": tools, "toolConfig": {"functionCallingConfig": config}}).request
    assert request.tool_choice == choice
    assert [tool.name for tool in request.tools] == left


def test_generation_config_is_read() -> None:
    config = {
        "temperature": 0.5,
        "topP": 0.9,
        "topK": 64,
        "maxOutputTokens": 100,
        "stopSequences": ["END"],
        "seed": 7,
        "candidateCount": 2,
        "presencePenalty": 0.25,
        "thinkingConfig": {"includeThoughts": True},
    }
    parsed = parse({"contents": [user("go")], "generationConfig": config})
    request = parsed.request
    assert (request.temperature, request.top_p, request.max_tokens, request.stop, request.seed) == (
        0.5,
        0.9,
        100,
        ("END",),
        7,
    )
    assert request.extra == {"presence_penalty": 0.25}
    assert (parsed.samples, parsed.is_stream) == (2, False)


def test_response_format_is_read() -> None:
    def form(**config: Any) -> Any:
        return parse({"contents": [user("go")], "generationConfig": config}).request.response_format

    assert form() is None
    assert form(responseMimeType="application/json") == JSON_MODE
    expected = {"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "object"}}}
    assert form(responseMimeType="application/json", responseSchema={"type": "OBJECT"}).model_dump() == expected
    assert form(responseMimeType="application/json", responseJsonSchema={"type": "object"}).model_dump() == expected


def test_snake_case_fields_are_read() -> None:
    body = {
        "system_instruction": {"parts": [{"text": "be brief"}]},
        "contents": [user("go"), model({"function_call": {"name": "read", "args": {}}})],
        "tools": [{"function_declarations": [{"name": "read"}]}],
        "generation_config": {"max_output_tokens": 5},
    }
    request = parse(body).request
    assert [message.role.value for message in request.messages] == ["system", "user", "assistant"]
    assert request.messages[2].tool_calls[0].name == "read"
    assert (request.tools[0].name, request.max_tokens) == ("read", 5)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({}, "messages"),
        ({"contents": "go"}, "field contents must be a list"),
        ({"contents": [{"role": "owl", "parts": []}]}, "field role"),
        ({"contents": [user({"fileData": {"fileUri": "files/1"}})]}, "a part with fileData is not supported"),
        ({"contents": [user("go")], "cachedContent": "cachedContents/1"}, "field cachedContent"),
        ({"contents": [user("go")], "generationConfig": {"maxOutputTokens": 0}}, "max_tokens"),
        ({"contents": [user("go")], "generationConfig": {"candidateCount": 1000}}, "candidateCount"),
        ({"contents": [user("go")], "tools": [{"functionDeclarations": [{}]}]}, "field name must be a string"),
        ({"contents": [model({"functionCall": {"name": "read", "args": "x"}})]}, "field args"),
    ],
)
def test_wrong_field_is_named(body: Any, problem: str) -> None:
    with pytest.raises(MalformedBody, match=problem):
        parse(body)


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
    results = {each.tool_call_id: int(str(each.content)) for each in conversation if each.role is Role.TOOL}
    assert len(calls) == number
    assert results == calls
