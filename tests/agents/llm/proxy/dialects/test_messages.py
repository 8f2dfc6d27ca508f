"""Bodies and events are written by hand from Anthropic's API reference."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from assay.agents.llm.chat import Answer, Finish, TokenUsage, ToolCall
from assay.agents.llm.proxy.dialects.base import HttpRequest, ParsedRequest
from assay.agents.llm.proxy.dialects.messages import Messages

DIALECT = Messages()
POST = HttpRequest("POST", "/v1/messages")
BASE: dict[str, Any] = {"model": "toy", "max_tokens": 50, "messages": [{"role": "user", "content": "hi"}]}
LS = ToolCall(id="toolu_1", name="bash", arguments='{"command": "ls"}')


def parse(**changes: Any) -> ParsedRequest:
    return DIALECT.parse(POST, {**BASE, **changes})


def events_of(answer: Answer) -> list[tuple[str, dict[str, Any]]]:
    """Return the names and data of an answer's events."""
    events = [event.splitlines() for event in "".join(DIALECT.events(parse(), [answer])).split("\n\n") if event]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in events]


def test_events_are_in_the_order_of_the_api() -> None:
    answer = Answer(
        content="I look.", tool_calls=(LS,), finish=Finish.TOOL_CALLS, usage=TokenUsage(completion_tokens=7)
    )
    events = events_of(answer)
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
    assert bodies[1] == {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    assert bodies[2]["delta"] == {"type": "text_delta", "text": "I look."}
    assert bodies[4]["content_block"] == {"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {}}
    assert bodies[5] == {
        "type": "content_block_delta",
        "index": 1,
        "delta": {"type": "input_json_delta", "partial_json": '{"command": "ls"}'},
    }
    assert bodies[7]["delta"] == {"stop_reason": "tool_use", "stop_sequence": None}
    assert bodies[7]["usage"]["output_tokens"] == 7


def test_ids_differ_between_questions_and_answers() -> None:
    ids = {
        DIALECT.reply(parse(messages=[{"role": "user", "content": text}]), [Answer(content=said)])["id"]
        for text in ("one", "two")
        for said in ("yes", "no")
    }
    assert len(ids) == 4


def test_token_is_read_from_either_header() -> None:
    assert DIALECT.token(HttpRequest("POST", "/v1/messages", headers={"x-api-key": "t"})) == "t"
    assert DIALECT.token(HttpRequest("POST", "/v1/messages", headers={"authorization": "Bearer t"})) == "t"
    assert DIALECT.token(HttpRequest("POST", "/v1/messages", headers={"authorization": "Basic t"})) == ""


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
def test_reply_is_read_back_as_the_same_message(answer: Answer) -> None:
    reply: Any = json.loads(json.dumps(DIALECT.reply(parse(), [answer])))
    again = parse(messages=[*BASE["messages"], {"role": "assistant", "content": reply["content"]}]).request.messages[1]
    assert again.content == answer.content
    assert [(call.id, call.name, json.loads(call.arguments)) for call in again.tool_calls] == [
        (call.id, call.name, json.loads(call.arguments)) for call in answer.tool_calls
    ]


@given(answers)
def test_events_hold_the_same_as_the_reply(answer: Answer) -> None:
    reply: Any = DIALECT.reply(parse(), [answer])
    blocks: dict[int, Any] = {}
    for _, data in events_of(answer):
        if data["type"] == "content_block_start":
            blocks[data["index"]] = data["content_block"]
        elif data["type"] == "content_block_delta" and data["delta"]["type"] == "text_delta":
            blocks[data["index"]]["text"] += data["delta"]["text"]
        elif data["type"] == "content_block_delta":
            blocks[data["index"]]["input"] = json.loads(data["delta"]["partial_json"])
    assert list(blocks.values()) == reply["content"]
