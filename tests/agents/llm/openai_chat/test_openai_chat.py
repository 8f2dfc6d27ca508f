import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.llm.chat import Answer, Finish, Message, Part, Request, Role, TokenUsage, ToolCall
from assay.agents.llm.json_fields import MalformedBody
from assay.agents.llm.openai_chat.replies import answer_from_json, answers_to_events, answers_to_json
from assay.agents.llm.openai_chat.requests import request_from_json, request_to_json
from assay.agents.llm.tokens import estimate_prompt, estimate_tokens

texts = st.text(max_size=30)
calls = st.builds(ToolCall, id=texts, name=texts, arguments=texts)
answers = st.builds(
    Answer,
    content=texts,
    reasoning=texts,
    tool_calls=st.lists(calls, max_size=3).map(tuple),
    finish=st.sampled_from([Finish.LENGTH, Finish.FILTERED, Finish.TOOL_CALLS]),
    model=texts.filter(bool),
    usage=st.builds(
        TokenUsage, prompt_tokens=st.integers(0, 10**6), completion_tokens=st.integers(0, 10**6), cost=st.none()
    ),
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            texts
            | st.sampled_from(["choices", "message", "messages", "usage", "tools", "function", "tool_calls", "role"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(answers)
def test_an_answer_survives_the_way_through_server_and_client(answer: Answer) -> None:
    assert answer_from_json(json.loads(json.dumps(answers_to_json([answer], "toy")))) == answer


@given(st.lists(answers, min_size=1, max_size=3))
def test_a_stream_tells_the_same_as_a_reply(said: list[Answer]) -> None:
    events = [line.removeprefix("data: ").strip() for line in answers_to_events(said, "toy")]
    assert events[-1] == "[DONE]"
    *pieces, last = (json.loads(event) for event in events[:-1])
    reply: Any = answers_to_json(said, "toy")
    assert last["usage"] == reply["usage"]
    for piece, choice in zip(pieces, reply["choices"], strict=True):
        (told,) = piece["choices"]
        assert told["index"] == choice["index"]
        assert told["finish_reason"] == choice["finish_reason"]
        assert told["delta"].get("content") == choice["message"].get("content")
        assert [call["function"] for call in told["delta"].get("tool_calls", [])] == [
            call["function"] for call in choice["message"].get("tool_calls", [])
        ]


@given(anything)
def test_whatever_comes_is_read_or_refused(body: Any) -> None:
    for read in (answer_from_json, request_from_json):
        with suppress(MalformedBody):
            assert isinstance(read(body), Answer | Request)


def test_parts_and_unknown_fields_pass_through() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:x", "detail": "low"}}
    body = {
        "model": "toy",
        "messages": [{"role": "user", "content": [{"type": "text", "text": "see"}, image], "cache": {"ttl": 5}}],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {}, "strict": True}}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "s", "schema": {"type": "object"}}},
        "reasoning_effort": "high",
    }
    request = request_from_json({**body, "stream": True, "stream_options": {}, "n": 2, "seed": None})
    assert request.messages[0].content == (Part(type="text", text="see"), Part.model_validate(image))
    assert request_to_json(request) == body


@pytest.mark.parametrize(
    ("body", "limit", "stop"),
    [
        ({"max_tokens": 5, "stop": "a"}, 5, ("a",)),
        ({"max_completion_tokens": 6, "stop": ["a", "b"]}, 6, ("a", "b")),
        ({"max_completion_tokens": 6, "max_tokens": 5}, 6, ()),
        ({}, None, ()),
    ],
)
def test_spellings_of_the_same(body: dict[str, Any], limit: int | None, stop: tuple[str, ...]) -> None:
    request = request_from_json({"model": "toy", "messages": [{"role": "user", "content": "x"}], **body})
    assert (request.max_tokens, request.stop, dict(request.extra)) == (limit, stop, {})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"messages": "x"}, "field messages must be a list"),
        ({"messages": []}, "field messages"),
        ({"messages": [{"role": "king", "content": "x"}]}, "field role"),
        ({"messages": [{"role": "user", "content": 3}]}, "field content"),
        ({"tools": [{"type": "web_search"}]}, "no function"),
        ({"temperature": "hot"}, "field temperature"),
        ({"max_tokens": 0}, "field max_tokens"),
        ({"model": ""}, "field model"),
    ],
)
def test_a_wrong_field_is_named(change: dict[str, Any], told: str) -> None:
    body = {"model": "toy", "messages": [{"role": "user", "content": "x"}], **change}
    with pytest.raises(MalformedBody, match=told):
        request_from_json(body)


@pytest.mark.parametrize(
    ("told", "has_calls", "finish"),
    [
        ("stop", False, Finish.STOP),
        ("stop", True, Finish.TOOL_CALLS),
        ("function_call", False, Finish.TOOL_CALLS),
        ("length", False, Finish.LENGTH),
        ("eos", False, Finish.OTHER),
        (None, False, Finish.OTHER),
        ({}, False, Finish.OTHER),
    ],
)
def test_why_an_answer_ends(make_said: Callable[..., Any], told: Any, has_calls: bool, finish: Finish) -> None:
    call = {"id": "1", "function": {"name": "f", "arguments": {"a": 1}}}
    answer = answer_from_json(make_said(message={"tool_calls": [call] if has_calls else []}, finish_reason=told))
    assert answer.finish is finish
    assert [each.arguments for each in answer.tool_calls] == (['{"a": 1}'] if has_calls else [])


def test_tokens_are_guessed_by_length() -> None:
    assert [estimate_tokens(text) for text in ("", "a", "abcd", "abcde")] == [0, 1, 1, 2]
    short = Request(model="m", messages=(Message(role=Role.USER, content="x" * 400),))
    longer = short.model_copy(update={"messages": short.messages * 2})
    assert 100 < estimate_prompt(short) < 120
    assert estimate_prompt(longer) > 200
