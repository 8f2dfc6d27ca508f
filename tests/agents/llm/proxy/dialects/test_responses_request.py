"""Bodies are written by hand from OpenAI's API reference."""

from typing import Any

import pytest

from assay.agents.llm.chat import Message, Part, Request, ResponseFormat, Role, Tool, ToolCall
from assay.agents.llm.json_fields import MalformedBody
from assay.agents.llm.proxy.dialects.base import ParsedRequest
from assay.agents.llm.proxy.dialects.responses_request import parse_responses

BASE: dict[str, Any] = {"model": "toy", "input": "hi"}
LS = ToolCall(id="call_1", name="shell", arguments='{"command": "ls"}')
FUNCTION = {"type": "function", "name": "shell", "parameters": {"type": "object"}, "strict": False}
PATCH = {
    "type": "custom",
    "name": "apply_patch",
    "description": "Edits files.",
    "format": {"type": "grammar", "syntax": "lark", "definition": 'start: "x"'},
}


def parse(**changes: Any) -> ParsedRequest:
    return parse_responses({**BASE, **changes})


WHOLE_BODY: dict[str, Any] = {
    "model": "toy",
    "instructions": "Be brief.",
    "input": [
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "No network."}]},
        {"role": "user", "content": "list the files"},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
        {"type": "function_call", "call_id": "call_1", "name": "shell", "arguments": '{"command": "ls"}'},
        {"type": "custom_tool_call", "call_id": "call_2", "name": "apply_patch", "input": "x"},
        {"type": "function_call_output", "call_id": "call_1", "output": "a.py"},
        {"type": "custom_tool_call_output", "call_id": "call_2", "output": [{"type": "input_text", "text": "ok"}]},
        {"role": "user", "content": [{"type": "input_text", "text": "Go on."}]},
    ],
    "tools": [FUNCTION, PATCH, {"type": "web_search"}, {"type": "image_generation"}],
    "tool_choice": "auto",
    "parallel_tool_calls": False,
    "max_output_tokens": 50,
    "temperature": 0.5,
    "top_p": 0.9,
    "reasoning": {"effort": "high"},
    "store": False,
    "include": ["reasoning.encrypted_content"],
    "prompt_cache_key": "x",
    "stream": True,
}

WHOLE_REQUEST = Request(
    model="toy",
    messages=(
        Message(role=Role.SYSTEM, content="Be brief.\n\nNo network."),
        Message(role=Role.USER, content="list the files"),
        Message(
            role=Role.ASSISTANT,
            content="I look.",
            tool_calls=(LS, ToolCall(id="call_2", name="apply_patch", arguments='{"input": "x"}')),
        ),
        Message(role=Role.TOOL, content="a.py", tool_call_id="call_1"),
        Message(role=Role.TOOL, content="ok", tool_call_id="call_2"),
        Message(role=Role.USER, content="Go on."),
    ),
    tools=(
        Tool(name="shell", parameters={"type": "object"}, strict=False),
        Tool(
            name="apply_patch",
            description='Edits files.\n\nThe text must follow this grammar (lark):\nstart: "x"',
            parameters={
                "type": "object",
                "properties": {"input": {"type": "string", "description": "the text"}},
                "required": ["input"],
                "additionalProperties": False,
            },
        ),
    ),
    tool_choice="auto",
    temperature=0.5,
    top_p=0.9,
    max_tokens=50,
    extra={"parallel_tool_calls": False},
)


def test_whole_request() -> None:
    assert parse_responses(WHOLE_BODY) == ParsedRequest(
        WHOLE_REQUEST, is_stream=True, freeform=frozenset({"apply_patch"}), left_out=("web_search", "image_generation")
    )


def test_plain_text_input_is_a_message_of_the_user() -> None:
    assert parse().request.messages == (Message(role=Role.USER, content="hi"),)


def test_images_in_tool_results_follow_the_last_result() -> None:
    image = {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}
    request = parse(
        input=[
            {"type": "function_call_output", "call_id": "a", "output": [{"type": "input_text", "text": "seen"}, image]},
            {"type": "function_call_output", "call_id": "b", "output": "b"},
        ]
    ).request
    part = Part.model_validate({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}})
    assert request.messages == (
        Message(role=Role.TOOL, content="seen", tool_call_id="a"),
        Message(role=Role.TOOL, content="b", tool_call_id="b"),
        Message(role=Role.USER, content=(part,)),
    )


def test_calls_of_two_answers_stay_apart() -> None:
    call = {"type": "function_call", "name": "shell", "arguments": "{}"}
    done = {"type": "function_call_output", "output": "x"}
    request = parse(
        input=[{**call, "call_id": "a"}, {**done, "call_id": "a"}, {**call, "call_id": "b"}, {**done, "call_id": "b"}]
    ).request
    assert [message.role.value for message in request.messages] == ["assistant", "tool", "assistant", "tool"]


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ({"type": "text"}, None),
        ({"type": "json_object"}, {"type": "json_object"}),
        (
            {"type": "json_schema", "name": "s", "schema": {}, "strict": True},
            {"type": "json_schema", "json_schema": {"name": "s", "schema": {}, "strict": True}},
        ),
    ],
)
def test_response_format_is_read(form: dict[str, Any], expected: object) -> None:
    read = parse(text={"format": form, "verbosity": "low"}).request.response_format
    assert read == (expected and ResponseFormat.model_validate(expected))


def test_tool_choice_may_name_one_tool() -> None:
    request = parse(tools=[PATCH], tool_choice={"type": "custom", "name": "apply_patch"}).request
    assert request.tool_choice == {"type": "function", "function": {"name": "apply_patch"}}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model": None}, "field model"),
        ({"input": []}, "field messages"),
        ({"input": 3}, "field input must be a list"),
        ({"input": [{"role": "king", "content": "x"}]}, "field role cannot be king"),
        ({"input": [{"type": "item_reference", "id": "x"}]}, "an item of the type item_reference is not supported"),
        ({"input": [{"role": "user", "content": [{"type": "input_file"}]}]}, "a part of the type input_file"),
        ({"input": [{"type": "function_call", "name": "f", "arguments": "{}"}]}, "field call_id must be a string"),
        ({"previous_response_id": "resp_1"}, "send the whole input"),
        ({"tools": [{"type": "web_search"}, {"type": "code_interpreter"}]}, "web_search, code_interpreter; the model"),
        ({"tools": [FUNCTION], "tool_choice": {"type": "web_search"}}, "field tool_choice names web_search"),
        ({"temperature": "hot"}, "field temperature"),
    ],
)
def test_wrong_field_is_named_in_one_line(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(MalformedBody) as error:
        parse(**changes)
    assert words in str(error.value)
    assert "\n" not in str(error.value)
