"""Bodies are written by hand from Anthropic's API reference."""

from typing import Any

import pytest

from assay.agents.llm.chat import Message, Part, Request, ResponseFormat, Role, Tool, ToolCall
from assay.agents.llm.json_fields import MalformedBody
from assay.agents.llm.proxy.dialects.base import ParsedRequest
from assay.agents.llm.proxy.dialects.messages_request import parse_messages

BASE: dict[str, Any] = {"model": "toy", "max_tokens": 50, "messages": [{"role": "user", "content": "hi"}]}
LS = ToolCall(id="toolu_1", name="bash", arguments='{"command": "ls"}')


def parse(**changes: Any) -> ParsedRequest:
    return parse_messages({**BASE, **changes})


def messages_of(*messages: dict[str, Any]) -> tuple[Message, ...]:
    return parse(messages=list(messages)).request.messages


WHOLE_BODY: dict[str, Any] = {
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

WHOLE_REQUEST = Request(
    model="toy",
    messages=(
        Message(role=Role.SYSTEM, content="Be brief.\n\nBe kind."),
        Message(role=Role.USER, content="list the files"),
        Message(
            role=Role.ASSISTANT, content="I look.", tool_calls=(LS, ToolCall(id="toolu_2", name="bash", arguments="{}"))
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


def test_whole_request() -> None:
    assert parse_messages(WHOLE_BODY) == ParsedRequest(WHOLE_REQUEST, is_stream=True, left_out=("web_search",))


def test_images_in_tool_results_follow_in_a_message_of_the_user() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "seen"}, image]}
    there = {"type": "image", "source": {"type": "url", "url": "data:image/gif;base64,BBBB"}}
    messages = messages_of({"role": "user", "content": [result, {"type": "text", "text": "and this"}, there]})
    assert messages == (
        Message(role=Role.TOOL, content="seen", tool_call_id="toolu_1"),
        Message(
            role=Role.USER,
            content=(
                Part.model_validate({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}),
                Part.model_validate({"type": "text", "text": "and this"}),
                Part.model_validate({"type": "image_url", "image_url": {"url": "data:image/gif;base64,BBBB"}}),
            ),
        ),
    )


def test_system_texts_become_one_at_the_start() -> None:
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
    ("choice", "expected"),
    [
        ({"type": "auto"}, "auto"),
        ({"type": "none"}, "none"),
        ({"type": "tool", "name": "bash"}, {"type": "function", "function": {"name": "bash"}}),
    ],
)
def test_tool_choice_is_read(choice: dict[str, Any], expected: object) -> None:
    assert parse(tools=[{"name": "bash", "input_schema": {}}], tool_choice=choice).request.tool_choice == expected


@pytest.mark.parametrize("field", ["output_config", "output_format"])
def test_response_format_is_read_from_either_field(field: str) -> None:
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
        ({"messages": [{"role": "user", "content": [{"type": "smell"}]}]}, "the type smell is not supported"),
        ({"messages": [{"role": "assistant", "content": [{"type": "image"}]}]}, "an answer's block of the type image"),
        ({"messages": [{"role": "user", "content": [{"type": "tool_result"}]}]}, "field tool_use_id must be a string"),
        (
            {"messages": [{"role": "user", "content": [{"type": "document", "source": {"type": "base64"}}]}]},
            "a document must be text",
        ),
        ({"max_tokens": "many"}, "field max_tokens"),
        ({"tools": [{"name": "bash"}]}, "field input_schema must hold JSON objects"),
        ({"tools": [{"type": "web_search_20250305", "name": "web_search"}]}, "not available: web_search;"),
        (
            {"tools": [{"name": "f", "input_schema": {}}], "tool_choice": {"type": "tool", "name": "g"}},
            "field tool_choice names g",
        ),
        ({"tools": [{"name": "f", "input_schema": {}}], "tool_choice": {"type": "some"}}, "cannot be of the type some"),
        ({"output_format": {"type": "xml"}}, "must be of the type json_schema"),
    ],
)
def test_wrong_field_is_named_in_one_line(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(MalformedBody) as error:
        parse(**changes)
    assert words in str(error.value)
    assert "\n" not in str(error.value)
