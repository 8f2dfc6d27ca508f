import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.llm.chat import Answer, Finish, Request, TokenUsage, ToolCall
from assay.agents.llm.json_fields import MalformedBody
from assay.agents.llm.openai_chat.replies import answer_from_json, answers_to_events, answers_to_json
from assay.agents.llm.openai_chat.requests import request_from_json
from played_endpoint import said

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
def test_answer_is_read_back_from_its_json(answer: Answer) -> None:
    assert answer_from_json(json.loads(json.dumps(answers_to_json([answer], "toy")))) == answer


@given(st.lists(answers, min_size=1, max_size=3))
def test_events_hold_the_same_as_the_reply(several: list[Answer]) -> None:
    events = [line.removeprefix("data: ").strip() for line in answers_to_events(several, "toy")]
    assert events[-1] == "[DONE]"
    *pieces, last = (json.loads(event) for event in events[:-1])
    reply: Any = answers_to_json(several, "toy")
    assert last["usage"] == reply["usage"]
    for piece, choice in zip(pieces, reply["choices"], strict=True):
        (sent,) = piece["choices"]
        assert sent["index"] == choice["index"]
        assert sent["finish_reason"] == choice["finish_reason"]
        assert sent["delta"].get("content") == choice["message"].get("content")
        assert [call["function"] for call in sent["delta"].get("tool_calls", [])] == [
            call["function"] for call in choice["message"].get("tool_calls", [])
        ]


@given(anything)
def test_any_json_is_read_or_raises_malformed_body(body: Any) -> None:
    for read in (answer_from_json, request_from_json):
        with suppress(MalformedBody):
            assert isinstance(read(body), Answer | Request)


@pytest.mark.parametrize(
    ("reason", "has_calls", "finish"),
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
def test_finish_reason_is_read(reason: Any, has_calls: bool, finish: Finish) -> None:
    call = {"id": "1", "function": {"name": "f", "arguments": {"a": 1}}}
    answer = answer_from_json(said(message={"tool_calls": [call] if has_calls else []}, finish_reason=reason))
    assert answer.finish is finish
    assert [each.arguments for each in answer.tool_calls] == (['{"a": 1}'] if has_calls else [])
