"""OpenAI's responses interface, against bodies and events that were written by hand from its reference."""

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
from assay.agents.llm.proxy.dialects.responses import Responses

FORM = Responses()
POST = HttpRequest("POST", "/v1/responses")
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
    return FORM.parse(POST, {**BASE, **changes})


def told(answer: Answer, asked: ParsedRequest | None = None) -> list[dict[str, Any]]:
    events = [event.splitlines() for event in "".join(FORM.events(asked or parse(), [answer])).split("\n\n") if event]
    bodies = [json.loads(data.removeprefix("data: ")) for _, data in events]
    assert [name.removeprefix("event: ") for name, _ in events] == [body["type"] for body in bodies]
    assert [body["sequence_number"] for body in bodies] == list(range(len(bodies)))
    return bodies


def test_a_whole_request() -> None:
    body = {
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
    field = {"input": {"type": "string", "description": "the text"}}
    request = Request(
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
                    "properties": field,
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
    assert FORM.parse(POST, body) == ParsedRequest(
        request, is_stream=True, freeform=frozenset({"apply_patch"}), left_out=("web_search", "image_generation")
    )


def test_tools_in_namespaces_have_both_names() -> None:
    space = {"type": "namespace", "name": "clock", "description": "Time.", "tools": [{**FUNCTION, "name": "sleep"}]}
    edits = {"type": "namespace", "name": "edits", "tools": [PATCH, {"type": "tool_search"}]}
    call = {"type": "function_call", "call_id": "call_1", "namespace": "clock", "name": "sleep", "arguments": "{}"}
    items = [
        {"type": "additional_tools", "role": "developer", "tools": [edits]},
        {"role": "user", "content": "hi"},
        call,
    ]
    asked = parse(tools=[space], input=items, tool_choice={"type": "function", "namespace": "clock", "name": "sleep"})
    assert [tool.name for tool in asked.request.tools] == ["clock__sleep", "edits__apply_patch"]
    assert asked.request.tool_choice == {"type": "function", "function": {"name": "clock__sleep"}}
    assert asked.left_out == ("tool_search",)
    sleep = ToolCall(id="call_1", name="clock__sleep", arguments="{}")
    assert asked.request.messages[1].tool_calls == (sleep,)
    patch = ToolCall(id="call_2", name="edits__apply_patch", arguments='{"input": "x"}')
    reply: Any = FORM.reply(asked, [Answer(tool_calls=(sleep, patch))])
    told = [{key: item[key] for key in item if key not in ("id", "status")} for item in reply["output"]]
    edit = {"type": "custom_tool_call", "call_id": "call_2", "namespace": "edits", "name": "apply_patch", "input": "x"}
    assert told == [call, edit]


def test_a_text_alone_is_the_users() -> None:
    assert parse().request.messages == (Message(role=Role.USER, content="hi"),)


def test_pictures_out_of_calls_follow_when_all_outcomes_are_told() -> None:
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
    ("form", "read"),
    [
        ({"type": "text"}, None),
        ({"type": "json_object"}, {"type": "json_object"}),
        (
            {"type": "json_schema", "name": "s", "schema": {}, "strict": True},
            {"type": "json_schema", "json_schema": {"name": "s", "schema": {}, "strict": True}},
        ),
    ],
)
def test_what_form_the_answer_must_have(form: dict[str, Any], read: object) -> None:
    expected = None if read is None else ResponseFormat.model_validate(read)
    assert parse(text={"format": form, "verbosity": "low"}).request.response_format == expected


def test_one_tool_may_be_wanted() -> None:
    request = parse(tools=[PATCH], tool_choice={"type": "custom", "name": "apply_patch"}).request
    assert request.tool_choice == {"type": "function", "function": {"name": "apply_patch"}}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model": None}, "field model"),
        ({"input": []}, "field messages"),
        ({"input": 3}, "field input must be a list"),
        ({"input": [{"role": "king", "content": "x"}]}, "field role cannot be king"),
        ({"input": [{"type": "item_reference", "id": "x"}]}, "an item of the type item_reference is not known"),
        ({"input": [{"role": "user", "content": [{"type": "input_file"}]}]}, "a part of the type input_file"),
        ({"input": [{"type": "function_call", "name": "f", "arguments": "{}"}]}, "field call_id must be a text"),
        ({"previous_response_id": "resp_1"}, "send the whole input"),
        ({"tools": [{"type": "web_search"}, {"type": "code_interpreter"}]}, "no web_search, code_interpreter here"),
        ({"tools": [FUNCTION], "tool_choice": {"type": "web_search"}}, "field tool_choice names web_search"),
        ({"temperature": "hot"}, "field temperature"),
    ],
)
def test_a_wrong_field_is_told_in_one_line(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(MalformedBody) as error:
        parse(**changes)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_an_answer_is_items() -> None:
    usage = TokenUsage(prompt_tokens=100, cached_tokens=30, completion_tokens=7)
    free = ToolCall(id="call_2", name="apply_patch", arguments='{"input": "x"}')
    answer = Answer(content="I look.", tool_calls=(LS, free), finish=Finish.TOOL_CALLS, usage=usage, reasoning="hm")
    reply: Any = FORM.reply(parse(tools=[FUNCTION, PATCH]), [answer])
    for each in (reply, *reply["output"]):
        assert each.pop("id")
    assert reply == {
        "object": "response",
        "created_at": 0,
        "model": "toy",
        "error": None,
        "status": "completed",
        "incomplete_details": None,
        "output": [
            {
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
            },
            {
                "type": "function_call",
                "call_id": "call_1",
                "name": "shell",
                "arguments": '{"command": "ls"}',
                "status": "completed",
            },
            {
                "type": "custom_tool_call",
                "call_id": "call_2",
                "name": "apply_patch",
                "input": "x",
                "status": "completed",
            },
        ],
        "usage": {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 30},
            "output_tokens": 7,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 107,
        },
    }


def test_a_stream_in_the_interfaces_order() -> None:
    free = ToolCall(id="call_2", name="apply_patch", arguments="x")
    answer = Answer(content="I look.", tool_calls=(LS, free))
    events = told(answer, parse(tools=[FUNCTION, PATCH]))
    assert [event["type"].removeprefix("response.") for event in events] == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "output_item.added",
        "custom_tool_call_input.delta",
        "custom_tool_call_input.done",
        "output_item.done",
        "completed",
    ]
    assert (events[0]["response"]["status"], events[0]["response"]["output"]) == ("in_progress", [])
    assert (events[2]["item"]["content"], events[2]["item"]["status"]) == ([], "in_progress")
    assert (events[4]["delta"], events[4]["output_index"], events[4]["content_index"]) == ("I look.", 0, 0)
    assert (events[8]["item"]["arguments"], events[9]["delta"]) == ("", '{"command": "ls"}')
    assert (events[13]["delta"], events[14]["input"]) == ("x", "x"), "a model may write the text as it is"
    assert [event["item"] for event in events if event["type"].endswith("item.done")] == events[-1]["response"][
        "output"
    ]


@pytest.mark.parametrize(
    ("finish", "reason"), [(Finish.LENGTH, "max_output_tokens"), (Finish.FILTERED, "content_filter")]
)
def test_an_answer_that_was_cut_is_incomplete(finish: Finish, reason: str) -> None:
    last = told(Answer(content="x", finish=finish))[-1]
    assert last["type"] == "response.incomplete"
    assert (last["response"]["status"], last["response"]["incomplete_details"]) == ("incomplete", {"reason": reason})


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [(402, "budget_exceeded", "invalid_request_error"), (503, "model_unavailable", "server_error")],
)
def test_errors(status: int, code: str, kind: str) -> None:
    refusal = FORM.error_reply(ApiError(status, code, "why"))
    assert refusal.status == status
    assert json.loads(refusal.body) == {"error": {"message": "why", "type": kind, "param": None, "code": code}}


words = st.text(min_size=1, max_size=20)
answers = st.builds(
    lambda text, calls: Answer(
        content=text,
        tool_calls=tuple(
            ToolCall(id=f"c{at}", name=name, arguments=json.dumps({"input": text}, ensure_ascii=False))
            for at, (name, text) in enumerate(calls)
        ),
    ),
    words,
    st.lists(st.tuples(st.sampled_from(["shell", "apply_patch"]), words), max_size=4),
)


@given(answers)
def test_an_answer_comes_back_as_it_was_said(answer: Answer) -> None:
    asked = parse(tools=[FUNCTION, PATCH])
    reply: Any = json.loads(json.dumps(FORM.reply(asked, [answer])))
    assert parse(input=[{"role": "user", "content": "hi"}, *reply["output"]]).request.messages[1] == answer.as_message()


@given(answers)
def test_a_stream_ends_with_the_whole_reply(answer: Answer) -> None:
    assert told(answer)[-1]["response"] == FORM.reply(parse(), [answer])
