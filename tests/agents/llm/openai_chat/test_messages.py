from typing import Any

import pytest

from assay.agents.llm.chat import Message, Part, Speaker, Tool, ToolCall
from assay.agents.llm.json_fields import MalformedBody
from assay.agents.llm.openai_chat.messages import message_from_json, message_to_json, tool_from_json, tool_to_json

LS = ToolCall(id="1", name="run", arguments='{"cmd": "ls"}')
LS_JSON = {"id": "1", "type": "function", "function": {"name": "run", "arguments": '{"cmd": "ls"}'}}


@pytest.mark.parametrize(
    ("message", "body"),
    [
        (Message(role=Speaker.USER, content="hi"), {"role": "user", "content": "hi"}),
        (
            Message(role=Speaker.USER, content=(Part.model_validate({"type": "text", "text": "hi"}),)),
            {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        ),
        (
            Message(role=Speaker.ASSISTANT, tool_calls=(LS,), reasoning="hm"),
            {"role": "assistant", "content": None, "tool_calls": [LS_JSON], "reasoning_content": "hm"},
        ),
        (
            Message(role=Speaker.TOOL, content="a.py", tool_call_id="1", extra={"cache": 5}),
            {"role": "tool", "content": "a.py", "tool_call_id": "1", "cache": 5},
        ),
    ],
)
def test_message_is_written_and_read_back(message: Message, body: dict[str, Any]) -> None:
    assert message_to_json(message) == body
    assert message_from_json(body) == message


def test_variants_of_servers_are_read() -> None:
    call: Any = {"id": "1", "function": {"name": "run", "arguments": {"cmd": "ls"}}}
    read = message_from_json({"role": "assistant", "reasoning": "hm", "tool_calls": [call], "refusal": None})
    assert read == Message(role=Speaker.ASSISTANT, tool_calls=(LS,), reasoning="hm")


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("hi", "must be a JSON object"),
        ({"role": "king"}, "field role"),
        ({"role": "user", "content": 3}, "field content must be a list"),
        ({"role": "assistant", "tool_calls": [{"id": "1"}]}, "has no 'function'"),
    ],
)
def test_wrong_field_of_a_message_is_named(body: Any, problem: str) -> None:
    with pytest.raises(MalformedBody, match=problem):
        message_from_json(body)


def test_tool_is_written_and_read_back() -> None:
    tool = Tool(name="run", description="Runs it.", parameters={"type": "object"}, strict=True)
    assert tool_from_json(tool_to_json(tool)) == tool
    assert tool_to_json(Tool(name="run")) == {"type": "function", "function": {"name": "run", "parameters": {}}}
    with pytest.raises(MalformedBody, match="not a function"):
        tool_from_json({"type": "web_search"})
