"""Bodies and events are written by hand from OpenAI's API reference."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.llm.chat import Answer, Finish, ToolCall
from assay.agents.llm.proxy.dialects.base import HttpRequest, ParsedRequest
from assay.agents.llm.proxy.dialects.responses import Responses

DIALECT = Responses()
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
    return DIALECT.parse(POST, {**BASE, **changes})


def events_of(answer: Answer, asked: ParsedRequest | None = None) -> list[dict[str, Any]]:
    events = [
        event.splitlines() for event in "".join(DIALECT.events(asked or parse(), [answer])).split("\n\n") if event
    ]
    bodies = [json.loads(data.removeprefix("data: ")) for _, data in events]
    assert [name.removeprefix("event: ") for name, _ in events] == [body["type"] for body in bodies]
    assert [body["sequence_number"] for body in bodies] == list(range(len(bodies)))
    return bodies


def test_tool_in_a_namespace_is_called_by_both_names() -> None:
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
    reply: Any = DIALECT.reply(asked, [Answer(tool_calls=(sleep, patch))])
    shown = [{key: item[key] for key in item if key not in ("id", "status")} for item in reply["output"]]
    edit = {"type": "custom_tool_call", "call_id": "call_2", "namespace": "edits", "name": "apply_patch", "input": "x"}
    assert shown == [call, edit]


def test_events_are_in_the_order_of_the_api() -> None:
    free = ToolCall(id="call_2", name="apply_patch", arguments="x")
    answer = Answer(content="I look.", tool_calls=(LS, free))
    events = events_of(answer, parse(tools=[FUNCTION, PATCH]))
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
def test_truncated_answer_is_incomplete(finish: Finish, reason: str) -> None:
    last = events_of(Answer(content="x", finish=finish))[-1]
    assert last["type"] == "response.incomplete"
    assert (last["response"]["status"], last["response"]["incomplete_details"]) == ("incomplete", {"reason": reason})


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
def test_reply_is_read_back_as_the_same_message(answer: Answer) -> None:
    asked = parse(tools=[FUNCTION, PATCH])
    reply: Any = json.loads(json.dumps(DIALECT.reply(asked, [answer])))
    assert (
        parse(input=[{"role": "user", "content": "hi"}, *reply["output"]]).request.messages[1] == answer.make_message()
    )


@given(answers)
def test_events_end_with_the_whole_reply(answer: Answer) -> None:
    assert events_of(answer)[-1]["response"] == DIALECT.reply(parse(), [answer])
