"""Bodies and events are written by hand from Anthropic's API reference."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.llm.chat import Answer, Finish, TokenUsage, ToolCall
from assay.agents.llm.proxy.dialects.base import ApiError, HttpRequest, ParsedRequest
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


def test_reply_holds_the_answer_as_blocks() -> None:
    usage = TokenUsage(prompt_tokens=100, cached_tokens=30, completion_tokens=7)
    answer = Answer(content="I look.", tool_calls=(LS,), finish=Finish.TOOL_CALLS, usage=usage, reasoning="hm")
    reply = DIALECT.reply(parse(), [answer])
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
def test_stop_reason_follows_the_finish(finish: Finish, calls: tuple[ToolCall, ...], reason: str) -> None:
    assert DIALECT.reply(parse(), [Answer(content="x", finish=finish, tool_calls=calls)])["stop_reason"] == reason


@pytest.mark.parametrize(
    ("written", "shown"),
    [("", {}), ('{"a": 1}', {"a": 1}), ("ls -l", {"arguments": "ls -l"}), ("[1]", {"arguments": "[1]"})],
)
def test_malformed_arguments_become_an_object(written: str, shown: dict[str, Any]) -> None:
    reply: Any = DIALECT.reply(parse(), [Answer(tool_calls=(ToolCall(id="1", name="f", arguments=written),))])
    assert reply["content"][0]["input"] == shown


def test_ids_differ_between_questions_and_answers() -> None:
    ids = {
        DIALECT.reply(parse(messages=[{"role": "user", "content": text}]), [Answer(content=said)])["id"]
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
def test_error_reply_has_the_type_of_the_status(status: int, code: str, kind: str, words: str) -> None:
    reply = DIALECT.error_reply(ApiError(status, code, "why"))
    assert reply.status == status
    assert json.loads(reply.body) == {"type": "error", "error": {"type": kind, "message": words}}


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
