"""Bodies and events are written by hand from Google's API reference."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.llm.chat import Answer, Finish, TokenUsage, ToolCall
from assay.agents.llm.json_fields import MalformedBody
from assay.agents.llm.proxy.dialects.base import HttpRequest, ParsedRequest, RouteKind
from assay.agents.llm.proxy.dialects.gemini import Gemini

GEMINI = Gemini()
ANSWER, STREAM, COUNT = (
    f"/v1beta/models/toy:{verb}" for verb in ("generateContent", "streamGenerateContent", "countTokens")
)
texts = st.text(max_size=20)
names = st.sampled_from(["read", "write", "run"])
calls = st.builds(
    ToolCall,
    id=st.uuids().map(str),
    name=names,
    arguments=st.dictionaries(texts, texts | st.integers() | st.none(), max_size=3).map(
        lambda args: json.dumps(args, ensure_ascii=False)
    ),
)
answers = st.builds(
    Answer,
    content=texts,
    reasoning=texts,
    tool_calls=st.lists(calls, max_size=3).map(tuple),
    finish=st.sampled_from(Finish),
    model=texts.filter(bool),
    usage=st.builds(TokenUsage, prompt_tokens=st.integers(0, 10**6), completion_tokens=st.integers(0, 10**6)),
)


def parse(body: Any, path: str = ANSWER, query: str = "") -> ParsedRequest:
    return GEMINI.parse(HttpRequest("POST", path, query), body)


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": part} if isinstance(part, str) else part for part in parts]}


def test_model_is_read_from_the_path() -> None:
    body = {"contents": [user("go")]}
    for path, name in (("v1beta/models/org/toy:7b", "org/toy:7b"), ("v1/models/a%20b", "a b")):
        assert parse(body, f"/{path}:generateContent").request.model == name


def test_stream_is_requested_by_the_path() -> None:
    body = {"contents": [user("go")]}
    assert parse(body, STREAM, "alt=sse").is_stream
    with pytest.raises(MalformedBody, match="alt=sse"):
        parse(body, STREAM)


def test_tokens_are_counted_for_contents_or_for_a_whole_request() -> None:
    whole = {"model": "models/toy", "contents": [user("go")], "systemInstruction": user("be brief")}
    assert [each.content for each in parse({"contents": [user("go")]}, COUNT).request.messages] == ["go"]
    request = parse({"generateContentRequest": whole}, COUNT).request
    assert [each.content for each in request.messages] == ["be brief", "go"]
    assert GEMINI.count(12) == {"totalTokens": 12}


@pytest.mark.parametrize("version", ["v1beta", "v1"])
def test_route_kind_follows_the_path(version: str) -> None:
    def kind(method: str, path: str) -> RouteKind | None:
        path = path.replace("v1beta", version)
        return next((route.kind for route in GEMINI.routes if route.matches(method, path)), None)

    assert [kind("POST", path) for path in (ANSWER, STREAM, COUNT)] == [
        RouteKind.ANSWER,
        RouteKind.ANSWER,
        RouteKind.COUNT,
    ]
    assert kind("POST", "/v1beta/models/org/toy:7b:generateContent") is RouteKind.ANSWER
    assert kind("GET", "/v1beta/models") is RouteKind.MODELS
    assert kind("POST", "/v1beta/models/toy:embedContent") is None
    assert kind("GET", ANSWER) is None


def test_token_is_read_from_header_query_or_bearer() -> None:
    assert GEMINI.token(HttpRequest("POST", ANSWER, headers={"x-goog-api-key": "t"})) == "t"
    assert GEMINI.token(HttpRequest("POST", ANSWER, "alt=sse&key=t%2B")) == "t+"
    assert GEMINI.token(HttpRequest("POST", ANSWER, headers={"authorization": "Bearer t"})) == "t"
    assert GEMINI.token(HttpRequest("POST", ANSWER)) == ""


def pieces(events: Iterator[str]) -> list[Any]:
    lines = list(events)
    assert all(event.startswith("data: ") and event.endswith("\n\n") for event in lines)
    return [json.loads(event.removeprefix("data: ")) for event in lines]


@given(st.lists(answers, min_size=1, max_size=3))
def test_events_hold_the_same_as_the_reply(several: list[Answer]) -> None:
    parsed = parse({"contents": [user("go")]}, STREAM, "alt=sse")
    sent = pieces(GEMINI.events(parsed, several))
    reply = GEMINI.reply(parsed, several)
    assert [candidate for piece in sent for candidate in piece["candidates"]] == reply["candidates"]
    assert sent[-1]["usageMetadata"] == reply["usageMetadata"]
    assert {piece["responseId"] for piece in sent} == {reply["responseId"]}


@given(answers)
def test_reply_is_read_back_as_the_same_message(answer: Answer) -> None:
    reply: Any = GEMINI.reply(parse({"contents": [user("go")]}), [answer])
    contents = [user("go"), json.loads(json.dumps(reply["candidates"][0]["content"]))]
    assert parse({"contents": contents}).request.messages[1] == answer.make_message()


def test_models_are_listed() -> None:
    listed: Any = GEMINI.models(["toy", "other"])
    assert [each["name"] for each in listed["models"]] == ["models/toy", "models/other"]
