import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.llm.chat import JSON_MODE, Answer, Finish, Message, Role, TokenUsage, Tool, ToolCall
from assay.agents.llm.json_fields import MalformedBody
from assay.agents.llm.proxy.dialects.base import ApiError, HttpRequest, ParsedRequest, RouteKind
from assay.agents.llm.proxy.dialects.gemini import Gemini

GEMINI = Gemini()
ANSWER, STREAM, COUNT = (
    f"/v1beta/models/toy:{verb}" for verb in ("generateContent", "streamGenerateContent", "countTokens")
)
texts = st.text(max_size=20)
names = st.sampled_from(["read", "write", "run"])
calls = st.builds(
    ToolCall,
    id=st.uuids().map(str),
    name=names,
    arguments=st.dictionaries(texts, texts | st.integers() | st.none(), max_size=3).map(
        lambda args: json.dumps(args, ensure_ascii=False)
    ),
)
answers = st.builds(
    Answer,
    content=texts,
    reasoning=texts,
    tool_calls=st.lists(calls, max_size=3).map(tuple),
    finish=st.sampled_from(Finish),
    model=texts.filter(bool),
    usage=st.builds(TokenUsage, prompt_tokens=st.integers(0, 10**6), completion_tokens=st.integers(0, 10**6)),
)
FIELDS = (
    *("contents", "parts", "text", "role", "functionCall", "functionResponse", "inlineData", "tools", "name", "args"),
    *("systemInstruction", "functionDeclarations", "generationConfig", "toolConfig", "functionCallingConfig"),
    *("stopSequences", "parameters", "properties", "items", "anyOf", "type", "response"),
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            texts | st.sampled_from(FIELDS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


def parse(body: Any, path: str = ANSWER, query: str = "") -> ParsedRequest:
    return GEMINI.parse(HttpRequest("POST", path, query), body)


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


def test_a_conversation_is_read_as_a_chat() -> None:
    read = messages(
        user("mend it"),
        model({"text": "hm", "thought": True}, "I ", "look.", {**call("read", path="a.py"), "thoughtSignature": "s"}),
        user(result("read", "x = 1")),
        systemInstruction={"parts": [{"text": "be brief"}]},
    )
    assert read == (
        Message(role=Role.SYSTEM, content="be brief"),
        Message(role=Role.USER, content="mend it"),
        Message(
            role=Role.ASSISTANT,
            content="I look.",
            reasoning="hm",
            tool_calls=(ToolCall(id="call_0", name="read", arguments='{"path": "a.py"}'),),
        ),
        Message(role=Role.TOOL, content="x = 1", tool_call_id="call_0"),
    )


def test_results_without_ids_belong_to_the_calls_of_their_name_in_order() -> None:
    read = messages(
        user("go"),
        model(call("read", path="a"), call("run"), call("read", path="b")),
        user(result("read", "of a"), result("read", "of b"), result("run", "ran")),
        model(call("read", path="c")),
        user(result("read", "of c")),
    )
    assert [(each.tool_call_id, each.content) for each in read if each.role is Role.TOOL] == [
        ("call_0", "of a"),
        ("call_2", "of b"),
        ("call_1", "ran"),
        ("call_3", "of c"),
    ]


def test_ids_go_before_order() -> None:
    read = messages(
        user("go"),
        model(call("read", "x"), call("read", "y"), call("read")),
        user(result("read", "of y", "y"), result("read", "of the nameless", "z"), result("read", "of x")),
    )
    told = [(each.tool_call_id, each.content) for each in read if each.role is Role.TOOL]
    assert told == [("y", "of y"), ("call_2", "of the nameless"), ("x", "of x")]


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
def test_a_result_of_no_call_is_refused(contents: list[Any]) -> None:
    with pytest.raises(MalformedBody, match=r"functionResponse read.* belongs to no call"):
        messages(*contents)


def test_results_stand_right_behind_their_calls_and_what_else_is_said_behind_them() -> None:
    """Chat endpoints refuse a call whose result is not among the very next messages."""
    image = {"inlineData": {"mimeType": "image/png", "data": "aGk="}}
    shown = {"functionResponse": {"name": "run", "response": {"error": "none"}, "parts": [image]}}
    read = messages(
        user("go"), model(call("read")), model(call("run")), user("see:", result("read", "one")), user(shown, "so?")
    )
    assert [message.role.value for message in read] == ["user", "assistant", "tool", "tool", "user"]
    assert [each.name for each in read[1].tool_calls] == ["read", "run"]
    assert [message.content for message in read[2:4]] == ["one", '{"error": "none"}']
    assert isinstance(read[4].content, tuple)
    assert [part.model_dump() for part in read[4].content] == [
        {"type": "text", "text": "see:"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
        {"type": "text", "text": "so?"},
    ]


def test_what_is_no_image_goes_as_a_file() -> None:
    (read,) = messages(user("read this", {"inlineData": {"mimeType": "application/pdf", "data": "JQ=="}}))
    assert isinstance(read.content, tuple)
    assert read.content[1].model_dump() == {
        "type": "file",
        "file": {"filename": "file", "file_data": "data:application/pdf;base64,JQ=="},
    }


def test_functions_become_tools_in_either_spelling_of_their_parameters() -> None:
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


def test_what_only_the_service_could_run_is_left_out_or_refused() -> None:
    declared = {"functionDeclarations": [{"name": "read"}]}
    some = parse({"contents": [user("go")], "tools": [declared, {"googleSearch": {}}]})
    assert some.left_out == ("googleSearch",)
    assert [tool.name for tool in some.request.tools] == ["read"]
    with pytest.raises(MalformedBody, match="no googleSearch here"):
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
def test_whether_a_tool_must_be_called(config: Any, choice: str | None, left: list[str]) -> None:
    tools = [{"functionDeclarations": [{"name": "read"}, {"name": "run"}]}]
    read = parse({"contents": [user("go")], "tools": tools, "toolConfig": {"functionCallingConfig": config}}).request
    assert read.tool_choice == choice
    assert [tool.name for tool in read.tools] == left


def test_how_is_asked() -> None:
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
    asked = parse({"contents": [user("go")], "generationConfig": config})
    read = asked.request
    assert (read.temperature, read.top_p, read.max_tokens, read.stop, read.seed) == (0.5, 0.9, 100, ("END",), 7)
    assert read.extra == {"presence_penalty": 0.25}
    assert (asked.samples, asked.is_stream) == (2, False)


def test_what_form_an_answer_must_have() -> None:
    def form(**config: Any) -> Any:
        return parse({"contents": [user("go")], "generationConfig": config}).request.response_format

    assert form() is None
    assert form(responseMimeType="application/json") == JSON_MODE
    told = {"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "object"}}}
    assert form(responseMimeType="application/json", responseSchema={"type": "OBJECT"}).model_dump() == told
    assert form(responseMimeType="application/json", responseJsonSchema={"type": "object"}).model_dump() == told


def test_underscores_are_read_as_well() -> None:
    body = {
        "system_instruction": {"parts": [{"text": "be brief"}]},
        "contents": [user("go"), model({"function_call": {"name": "read", "args": {}}})],
        "tools": [{"function_declarations": [{"name": "read"}]}],
        "generation_config": {"max_output_tokens": 5},
    }
    read = parse(body).request
    assert [message.role.value for message in read.messages] == ["system", "user", "assistant"]
    assert read.messages[2].tool_calls[0].name == "read"
    assert (read.tools[0].name, read.max_tokens) == ("read", 5)


def test_the_model_stands_in_the_path() -> None:
    body = {"contents": [user("go")]}
    for path, name in (("v1beta/models/org/toy:7b", "org/toy:7b"), ("v1/models/a%20b", "a b")):
        assert parse(body, f"/{path}:generateContent").request.model == name


def test_a_stream_is_asked_for_by_the_path() -> None:
    body = {"contents": [user("go")]}
    assert parse(body, STREAM, "alt=sse").is_stream
    with pytest.raises(MalformedBody, match="alt=sse"):
        parse(body, STREAM)


def test_the_tokens_of_a_conversation_or_of_a_whole_request_are_counted() -> None:
    whole = {"model": "models/toy", "contents": [user("go")], "systemInstruction": user("be brief")}
    assert [each.content for each in parse({"contents": [user("go")]}, COUNT).request.messages] == ["go"]
    read = parse({"generateContentRequest": whole}, COUNT).request
    assert [each.content for each in read.messages] == ["be brief", "go"]
    assert GEMINI.count(12) == {"totalTokens": 12}


@pytest.mark.parametrize("version", ["v1beta", "v1"])
def test_each_path_has_its_matter(version: str) -> None:
    def kind(method: str, path: str) -> RouteKind | None:
        path = path.replace("v1beta", version)
        return next((route.kind for route in GEMINI.routes if route.matches(method, path)), None)

    assert [kind("POST", path) for path in (ANSWER, STREAM, COUNT)] == [
        RouteKind.ANSWER,
        RouteKind.ANSWER,
        RouteKind.COUNT,
    ]
    assert kind("POST", "/v1beta/models/org/toy:7b:generateContent") is RouteKind.ANSWER
    assert kind("GET", "/v1beta/models") is RouteKind.MODELS
    assert kind("POST", "/v1beta/models/toy:embedContent") is None
    assert kind("GET", ANSWER) is None


def test_the_token_comes_in_one_of_three_ways() -> None:
    assert GEMINI.token(HttpRequest("POST", ANSWER, headers={"x-goog-api-key": "t"})) == "t"
    assert GEMINI.token(HttpRequest("POST", ANSWER, "alt=sse&key=t%2B")) == "t+"
    assert GEMINI.token(HttpRequest("POST", ANSWER, headers={"authorization": "Bearer t"})) == "t"
    assert GEMINI.token(HttpRequest("POST", ANSWER)) == ""


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({}, "messages"),
        ({"contents": "go"}, "field contents must be a list"),
        ({"contents": [{"role": "owl", "parts": []}]}, "field role"),
        ({"contents": [user({"fileData": {"fileUri": "files/1"}})]}, "a part with fileData cannot"),
        ({"contents": [user("go")], "cachedContent": "cachedContents/1"}, "field cachedContent"),
        ({"contents": [user("go")], "generationConfig": {"maxOutputTokens": 0}}, "max_tokens"),
        ({"contents": [user("go")], "generationConfig": {"candidateCount": 1000}}, "candidateCount"),
        ({"contents": [user("go")], "tools": [{"functionDeclarations": [{}]}]}, "field name must be a text"),
        ({"contents": [model({"functionCall": {"name": "read", "args": "x"}})]}, "field args"),
    ],
)
def test_what_is_wrong_is_named(body: Any, problem: str) -> None:
    with pytest.raises(MalformedBody, match=problem):
        parse(body)


@given(anything)
def test_whatever_comes_is_read_or_refused(body: Any) -> None:
    if isinstance(body, dict):
        with suppress(MalformedBody):
            assert isinstance(parse(body), ParsedRequest)


TOLD = Answer(
    content="So.",
    reasoning="hm",
    tool_calls=(
        ToolCall(id="c1", name="run", arguments='{"command": "ls"}'),
        ToolCall(id="", name="rest", arguments=""),
    ),
    finish=Finish.TOOL_CALLS,
    model="toy-2026",
    usage=TokenUsage(prompt_tokens=100, cached_tokens=60, completion_tokens=7),
)


def test_an_answer_is_a_candidate() -> None:
    reply = GEMINI.reply(parse({"contents": [user("go")]}), [TOLD])
    assert reply.pop("responseId") == GEMINI.reply(parse({"contents": [user("go")]}), [TOLD])["responseId"]
    assert reply == {
        "modelVersion": "toy-2026",
        "candidates": [
            {
                "content": {
                    "role": "model",
                    "parts": [
                        {"text": "hm", "thought": True},
                        {"text": "So."},
                        {"functionCall": {"id": "c1", "name": "run", "args": {"command": "ls"}}},
                        {"functionCall": {"name": "rest", "args": {}}},
                    ],
                },
                "finishReason": "STOP",
                "index": 0,
            }
        ],
        "usageMetadata": {
            "promptTokenCount": 100,
            "cachedContentTokenCount": 60,
            "candidatesTokenCount": 7,
            "totalTokenCount": 107,
        },
    }


@pytest.mark.parametrize(
    ("finish", "told"),
    [
        (Finish.STOP, "STOP"),
        (Finish.TOOL_CALLS, "STOP"),
        (Finish.LENGTH, "MAX_TOKENS"),
        (Finish.FILTERED, "SAFETY"),
        (Finish.OTHER, "OTHER"),
    ],
)
def test_why_an_answer_ends(finish: Finish, told: str) -> None:
    reply: Any = GEMINI.reply(parse({"contents": [user("go")]}), [Answer(finish=finish)])
    assert reply["candidates"][0]["finishReason"] == told
    assert reply["candidates"][0]["content"]["parts"] == [{"text": ""}]


def test_several_answers_are_several_candidates_and_cost_together() -> None:
    reply: Any = GEMINI.reply(parse({"contents": [user("go")]}), [TOLD, TOLD])
    assert [candidate["index"] for candidate in reply["candidates"]] == [0, 1]
    assert reply["usageMetadata"]["totalTokenCount"] == 214


def pieces(events: Iterator[str]) -> list[Any]:
    told = list(events)
    assert all(event.startswith("data: ") and event.endswith("\n\n") for event in told)
    return [json.loads(event.removeprefix("data: ")) for event in told]


@given(st.lists(answers, min_size=1, max_size=3))
def test_a_stream_tells_the_same_as_a_reply(said: list[Answer]) -> None:
    asked = parse({"contents": [user("go")]}, STREAM, "alt=sse")
    told = pieces(GEMINI.events(asked, said))
    reply = GEMINI.reply(asked, said)
    assert [candidate for piece in told for candidate in piece["candidates"]] == reply["candidates"]
    assert told[-1]["usageMetadata"] == reply["usageMetadata"]
    assert {piece["responseId"] for piece in told} == {reply["responseId"]}


@given(answers)
def test_an_answer_that_is_told_back_is_the_same_message(said: Answer) -> None:
    reply: Any = GEMINI.reply(parse({"contents": [user("go")]}), [said])
    assert messages(user("go"), json.loads(json.dumps(reply["candidates"][0]["content"])))[1] == said.as_message()


@given(st.lists(st.lists(names, min_size=1, max_size=4), max_size=4), st.randoms(use_true_random=False))
def test_every_nameless_call_gets_its_own_result(turns: list[list[str]], chance: Any) -> None:
    """Results are told in any order that keeps the order within a name, which is all that Google's form promises."""
    contents, number = [user("go")], 0
    for turn in turns:
        made = [(name, number + at) for at, name in enumerate(turn)]
        number += len(turn)
        contents.append(model(*(call(name, nth=nth) for name, nth in made)))
        order = [name for name, _ in made]
        chance.shuffle(order)
        queues = {name: [nth for other, nth in made if other == name] for name in order}
        contents.append(user(*(result(name, str(queues[name].pop(0))) for name in order)))
    read = messages(*contents)
    asked = {each.id: json.loads(each.arguments)["nth"] for message in read for each in message.tool_calls}
    told = {each.tool_call_id: int(str(each.content)) for each in read if each.role is Role.TOOL}
    assert len(asked) == number
    assert told == asked


@pytest.mark.parametrize(
    ("status", "code", "name"),
    [
        (400, "invalid_request", "INVALID_ARGUMENT"),
        (401, "invalid_api_key", "UNAUTHENTICATED"),
        (402, "budget_exceeded", "RESOURCE_EXHAUSTED"),
        (403, "forbidden", "PERMISSION_DENIED"),
        (404, "model_not_found", "NOT_FOUND"),
        (413, "invalid_request", "INVALID_ARGUMENT"),
        (502, "model_error", "INTERNAL"),
        (503, "model_unavailable", "UNAVAILABLE"),
    ],
)
def test_errors_have_googles_shape(status: int, code: str, name: str) -> None:
    told = GEMINI.error_reply(ApiError(status, code, "no"))
    assert told.status == status
    assert json.loads(told.body) == {"error": {"code": status, "message": "no", "status": name}}


def test_a_conversation_that_is_too_long_is_told_in_the_words_that_clients_know() -> None:
    told = json.loads(GEMINI.error_reply(ApiError(400, "context_length_exceeded", "9000 of 8192")).body)["error"]
    assert told["message"] == "the input token count exceeds the maximum number of tokens allowed: 9000 of 8192"


def test_the_models_are_listed() -> None:
    listed: Any = GEMINI.models(["toy", "other"])
    assert [each["name"] for each in listed["models"]] == ["models/toy", "models/other"]
