"""Anthropic's messages interface, against bodies and events that were written by hand from its reference."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.llm.chat import (
    Answer,
    Finish,
    Message,
    Part,
    Request,
    ResponseFormat,
    Role,
    TokenUsage,
    Tool,
    ToolCall,
)
from assay.agents.llm.json_fields import MalformedBody
from assay.agents.llm.proxy.dialects.base import ApiError, HttpRequest, ParsedRequest
from assay.agents.llm.proxy.dialects.messages import Messages

FORM = Messages()
POST = HttpRequest("POST", "/v1/messages")
BASE: dict[str, Any] = {"model": "toy", "max_tokens": 50, "messages": [{"role": "user", "content": "hi"}]}
LS = ToolCall(id="toolu_1", name="bash", arguments='{"command": "ls"}')


def parse(**changes: Any) -> ParsedRequest:
    return FORM.parse(POST, {**BASE, **changes})


def heard(*messages: dict[str, Any]) -> tuple[Message, ...]:
    return parse(messages=list(messages)).request.messages


def told(answer: Answer) -> list[tuple[str, dict[str, Any]]]:
    """Return the names and data of an answer's events."""
    events = [event.splitlines() for event in "".join(FORM.events(parse(), [answer])).split("\n\n") if event]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in events]


def test_a_whole_request() -> None:
    body = {
        **BASE,
        "system": [
            {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}},
            {"type": "text", "text": "Be kind."},
        ],
        "messages": [
            {"role": "user", "content": "list the files"},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "x"},
                    {"type": "redacted_thinking", "data": "x"},
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {"command": "ls"}},
                    {"type": "tool_use", "id": "toolu_2", "name": "bash", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "toolu_1", "content": "a.py"},
                    {
                        "type": "tool_result",
                        "tool_use_id": "toolu_2",
                        "content": [{"type": "text", "text": "no"}, {"type": "text", "text": "command"}],
                        "is_error": True,
                    },
                    {"type": "text", "text": "Go on."},
                ],
            },
        ],
        "tools": [
            {"name": "bash", "description": "Runs it.", "input_schema": {"type": "object"}},
            {"type": "web_search_20250305", "name": "web_search", "max_uses": 5},
        ],
        "tool_choice": {"type": "any", "disable_parallel_tool_use": True},
        "stop_sequences": ["END"],
        "temperature": 0.5,
        "top_p": 0.9,
        "top_k": 3,
        "metadata": {"user_id": "me"},
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "stream": True,
    }
    request = Request(
        model="toy",
        messages=(
            Message(role=Role.SYSTEM, content="Be brief.\n\nBe kind."),
            Message(role=Role.USER, content="list the files"),
            Message(
                role=Role.ASSISTANT,
                content="I look.",
                tool_calls=(LS, ToolCall(id="toolu_2", name="bash", arguments="{}")),
            ),
            Message(role=Role.TOOL, content="a.py", tool_call_id="toolu_1"),
            Message(role=Role.TOOL, content="no\n\ncommand", tool_call_id="toolu_2"),
            Message(role=Role.USER, content="Go on."),
        ),
        tools=(Tool(name="bash", description="Runs it.", parameters={"type": "object"}),),
        tool_choice="required",
        temperature=0.5,
        top_p=0.9,
        max_tokens=50,
        stop=("END",),
        extra={"parallel_tool_calls": False},
    )
    assert FORM.parse(POST, body) == ParsedRequest(request, is_stream=True, left_out=("web_search",))


def test_pictures_are_parts_and_those_out_of_tools_are_shown_by_the_user() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "seen"}, image]}
    there = {"type": "image", "source": {"type": "url", "url": "https://x/y.png"}}
    messages = heard({"role": "user", "content": [result, {"type": "text", "text": "and this"}, there]})
    assert messages == (
        Message(role=Role.TOOL, content="seen", tool_call_id="toolu_1"),
        Message(
            role=Role.USER,
            content=(
                Part.model_validate({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}),
                Part.model_validate({"type": "text", "text": "and this"}),
                Part.model_validate({"type": "image_url", "image_url": {"url": "https://x/y.png"}}),
            ),
        ),
    )


def test_there_is_one_system_text_at_the_start() -> None:
    messages = parse(
        system="Be brief.",
        messages=[
            {"role": "user", "content": "hi"},
            {"role": "system", "content": "It is Monday."},
            {"role": "assistant", "content": "yes?"},
            {"role": "system", "content": [{"type": "text", "text": "A file has changed."}]},
        ],
    ).request.messages
    assert [(message.role.value, message.content) for message in messages] == [
        ("system", "Be brief.\n\nIt is Monday."),
        ("user", "hi"),
        ("assistant", "yes?"),
        ("user", "A file has changed."),
    ]


@pytest.mark.parametrize(
    ("choice", "read"),
    [
        ({"type": "auto"}, "auto"),
        ({"type": "none"}, "none"),
        ({"type": "tool", "name": "bash"}, {"type": "function", "function": {"name": "bash"}}),
    ],
)
def test_which_tool_must_be_called(choice: dict[str, Any], read: object) -> None:
    assert parse(tools=[{"name": "bash", "input_schema": {}}], tool_choice=choice).request.tool_choice == read


@pytest.mark.parametrize("field", ["output_config", "output_format"])
def test_what_form_the_answer_must_have(field: str) -> None:
    form = {"type": "json_schema", "schema": {"type": "object"}}
    request = parse(**{field: {"format": form} if field == "output_config" else form}).request
    schema = {"name": "answer", "schema": {"type": "object"}}
    assert request.response_format == ResponseFormat.model_validate({"type": "json_schema", "json_schema": schema})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model": None}, "field model"),
        ({"messages": []}, "field messages"),
        ({"messages": "hi"}, "field messages must be a list"),
        ({"messages": ["hi"]}, "field messages must hold JSON objects"),
        ({"messages": [{"role": "king", "content": "x"}]}, "field role must be user, assistant or system"),
        ({"messages": [{"role": "user", "content": [{"type": "smell"}]}]}, "a block of the type smell is not known"),
        ({"messages": [{"role": "assistant", "content": [{"type": "image"}]}]}, "an answer's block of the type image"),
        ({"messages": [{"role": "user", "content": [{"type": "tool_result"}]}]}, "field tool_use_id must be a text"),
        (
            {"messages": [{"role": "user", "content": [{"type": "document", "source": {"type": "base64"}}]}]},
            "a document must be of text",
        ),
        ({"max_tokens": "many"}, "field max_tokens"),
        ({"tools": [{"name": "bash"}]}, "field input_schema must hold JSON objects"),
        ({"tools": [{"type": "web_search_20250305", "name": "web_search"}]}, "there is no web_search here"),
        (
            {"tools": [{"name": "f", "input_schema": {}}], "tool_choice": {"type": "tool", "name": "g"}},
            "field tool_choice names g",
        ),
        ({"tools": [{"name": "f", "input_schema": {}}], "tool_choice": {"type": "some"}}, "cannot be of the type some"),
        ({"output_format": {"type": "xml"}}, "must be of the type json_schema"),
    ],
)
def test_a_wrong_field_is_told_in_one_line(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(MalformedBody) as error:
        parse(**changes)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_an_answer_is_blocks() -> None:
    usage = TokenUsage(prompt_tokens=100, cached_tokens=30, completion_tokens=7)
    answer = Answer(content="I look.", tool_calls=(LS,), finish=Finish.TOOL_CALLS, usage=usage, reasoning="hm")
    reply = FORM.reply(parse(), [answer])
    assert str(reply.pop("id")).startswith("msg_")
    assert reply == {
        "type": "message",
        "role": "assistant",
        "model": "toy",
        "content": [
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {"command": "ls"}},
        ],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 70,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 30,
            "output_tokens": 7,
        },
    }


def test_a_stream_in_the_interfaces_order() -> None:
    answer = Answer(
        content="I look.", tool_calls=(LS,), finish=Finish.TOOL_CALLS, usage=TokenUsage(completion_tokens=7)
    )
    events = told(answer)
    assert [(name, data["type"]) for name, data in events] == [
        (name, name)
        for name in (
            "message_start",
            *("content_block_start", "content_block_delta", "content_block_stop") * 2,
            "message_delta",
            "message_stop",
        )
    ]
    bodies = [data for _, data in events]
    assert (bodies[0]["message"]["content"], bodies[0]["message"]["stop_reason"]) == ([], None)
    assert bodies[1] == {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "text", "text": ""},
    }
    assert bodies[2]["delta"] == {"type": "text_delta", "text": "I look."}
    assert bodies[4]["content_block"] == {"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {}}
    assert bodies[5] == {
        "type": "content_block_delta",
        "index": 1,
        "delta": {"type": "input_json_delta", "partial_json": '{"command": "ls"}'},
    }
    assert bodies[7]["delta"] == {"stop_reason": "tool_use", "stop_sequence": None}
    assert bodies[7]["usage"]["output_tokens"] == 7


@pytest.mark.parametrize(
    ("finish", "calls", "reason"),
    [
        (Finish.STOP, (), "end_turn"),
        (Finish.OTHER, (), "end_turn"),
        (Finish.TOOL_CALLS, (), "end_turn"),
        (Finish.STOP, (LS,), "tool_use"),
        (Finish.LENGTH, (LS,), "max_tokens"),
        (Finish.FILTERED, (), "refusal"),
    ],
)
def test_why_it_ends(finish: Finish, calls: tuple[ToolCall, ...], reason: str) -> None:
    assert FORM.reply(parse(), [Answer(content="x", finish=finish, tool_calls=calls)])["stop_reason"] == reason


@pytest.mark.parametrize(
    ("written", "shown"),
    [("", {}), ('{"a": 1}', {"a": 1}), ("ls -l", {"arguments": "ls -l"}), ("[1]", {"arguments": "[1]"})],
)
def test_arguments_are_an_object_whatever_the_model_wrote(written: str, shown: dict[str, Any]) -> None:
    reply: Any = FORM.reply(parse(), [Answer(tool_calls=(ToolCall(id="1", name="f", arguments=written),))])
    assert reply["content"][0]["input"] == shown


def test_answers_have_names_of_their_own() -> None:
    ids = {
        FORM.reply(parse(messages=[{"role": "user", "content": text}]), [Answer(content=said)])["id"]
        for text in ("one", "two")
        for said in ("yes", "no")
    }
    assert len(ids) == 4


@pytest.mark.parametrize(
    ("status", "code", "kind", "words"),
    [
        (402, "budget_exceeded", "billing_error", "why"),
        (401, "invalid_api_key", "authentication_error", "why"),
        (429, "model_unavailable", "rate_limit_error", "why"),
        (503, "model_unavailable", "overloaded_error", "why"),
        (502, "model_error", "api_error", "why"),
        (400, "context_length_exceeded", "invalid_request_error", "prompt is too long: why"),
    ],
)
def test_errors(status: int, code: str, kind: str, words: str) -> None:
    refusal = FORM.error_reply(ApiError(status, code, "why"))
    assert refusal.status == status
    assert json.loads(refusal.body) == {"type": "error", "error": {"type": kind, "message": words}}


def test_the_token_is_in_either_header() -> None:
    assert FORM.token(HttpRequest("POST", "/v1/messages", headers={"x-api-key": "t"})) == "t"
    assert FORM.token(HttpRequest("POST", "/v1/messages", headers={"authorization": "Bearer t"})) == "t"
    assert FORM.token(HttpRequest("POST", "/v1/messages", headers={"authorization": "Basic t"})) == ""


words = st.text(min_size=1, max_size=20)
arguments = st.dictionaries(st.text(max_size=5), words | st.integers() | st.none(), max_size=3)
answers = st.builds(
    lambda text, calls: Answer(
        content=text,
        tool_calls=tuple(ToolCall(id=f"t{at}", name=n, arguments=json.dumps(a)) for at, (n, a) in enumerate(calls)),
    ),
    words,
    st.lists(st.tuples(words, arguments), max_size=3),
)


@given(answers)
def test_an_answer_comes_back_as_it_was_said(answer: Answer) -> None:
    reply: Any = json.loads(json.dumps(FORM.reply(parse(), [answer])))
    again = parse(messages=[*BASE["messages"], {"role": "assistant", "content": reply["content"]}]).request.messages[1]
    assert again.content == answer.content
    assert [(call.id, call.name, json.loads(call.arguments)) for call in again.tool_calls] == [
        (call.id, call.name, json.loads(call.arguments)) for call in answer.tool_calls
    ]


@given(answers)
def test_a_stream_tells_what_a_reply_does(answer: Answer) -> None:
    reply: Any = FORM.reply(parse(), [answer])
    blocks: dict[int, Any] = {}
    for _, data in told(answer):
        if data["type"] == "content_block_start":
            blocks[data["index"]] = data["content_block"]
        elif data["type"] == "content_block_delta" and data["delta"]["type"] == "text_delta":
            blocks[data["index"]]["text"] += data["delta"]["text"]
        elif data["type"] == "content_block_delta":
            blocks[data["index"]]["input"] = json.loads(data["delta"]["partial_json"])
    assert list(blocks.values()) == reply["content"]
