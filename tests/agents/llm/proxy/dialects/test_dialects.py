"""All dialects behind a real proxy: what is served, to whom, and how a tool is stopped."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from assay.agents.external.adapters import Interface
from assay.agents.llm.budget import BudgetLimits, Ledger, Metered
from assay.agents.llm.chat import ChatModel, Request
from assay.agents.llm.errors import ModelUnavailable
from assay.agents.llm.proxy.dialects import DIALECTS
from assay.agents.llm.proxy.dialects.base import RouteKind
from assay.agents.llm.proxy.handler import CallRecord
from assay.agents.llm.proxy.server import Proxy
from assay.agents.llm.scripted import Scripted


@dataclass(frozen=True)
class Sample:
    """How a question is asked in a form, and where its answer stands in the reply."""

    path: str
    body: dict[str, Any]
    answer: tuple[str | int, ...]
    problem: tuple[str, ...] = ("error", "message")
    header: str = "Authorization"
    prefix: str = "Bearer "
    streams: Mapping[str, Any] = field(default_factory=lambda: {"stream": True})
    stream_path: str = ""


SAY_HI = [{"role": "user", "content": "hi"}]
SAMPLES = {
    "chat": Sample("/v1/chat/completions", {"model": "toy", "messages": SAY_HI}, ("choices", 0, "message", "content")),
    "messages": Sample(
        "/v1/messages",
        {"model": "toy", "max_tokens": 9, "messages": SAY_HI},
        ("content", 0, "text"),
        header="x-api-key",
        prefix="",
    ),
    "responses": Sample("/v1/responses", {"model": "toy", "input": "hi"}, ("output", 0, "content", 0, "text")),
    "gemini": Sample(
        "/v1beta/models/toy:generateContent",
        {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]},
        ("candidates", 0, "content", "parts", 0, "text"),
        header="x-goog-api-key",
        prefix="",
        streams={},
        stream_path="/v1beta/models/toy:streamGenerateContent?alt=sse",
    ),
}


@dataclass(frozen=True)
class Line:
    """A proxy that answers in one form, and who asks it."""

    proxy: Proxy
    sample: Sample
    log: Path

    def post(
        self, path: str = "", body: Any = None, *, token: str | None = None, method: str = "POST"
    ) -> httpx.Response:
        key = self.sample.prefix + (self.proxy.token if token is None else token)
        url = self.proxy.base_url.removesuffix("/v1") + (path or self.sample.path)
        with httpx.Client(trust_env=False, timeout=10) as client:
            content = json.dumps(self.sample.body if body is None else body)
            return client.request(method, url, content=content, headers={self.sample.header: key.strip()})

    def problem(self, reply: httpx.Response) -> str:
        return str(found(reply.json(), self.sample.problem))

    def calls(self) -> list[CallRecord]:
        return [CallRecord.model_validate_json(line) for line in self.log.read_text().splitlines()]


def found(value: Any, path: tuple[str | int, ...]) -> Any:
    for each in path:
        value = value[each]
    return value


@contextmanager
def opened(name: str, model: ChatModel, folder: Path) -> Iterator[Line]:
    with Proxy(model, ["toy"], log=folder / "log", dialects=[DIALECTS[name]]) as proxy:
        yield Line(proxy, SAMPLES[name], folder / "log")


def test_every_interface_that_an_adapter_may_name_has_a_form() -> None:
    assert set(DIALECTS) == set(SAMPLES) == {each.value for each in Interface}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_question_is_answered(name: str, tmp_path: Path) -> None:
    asked: list[Request] = []

    def answer(request: Request) -> str:
        asked.append(request)
        return "hello"

    with opened(name, Scripted(answer), tmp_path) as line:
        reply = line.post()
        assert reply.status_code == 200, reply.text
        assert found(reply.json(), line.sample.answer) == "hello"
        (call,) = line.calls()
    assert (asked[0].model, asked[0].messages[0].content) == ("toy", "hi")
    assert (call.status, call.model) == (200, "toy")


@pytest.mark.parametrize("name", SAMPLES)
def test_who_wants_a_stream_gets_one(name: str, tmp_path: Path) -> None:
    with opened(name, Scripted(["hello"]), tmp_path) as line:
        reply = line.post(line.sample.stream_path, {**line.sample.body, **line.sample.streams})
    assert reply.headers["content-type"] == "text/event-stream"
    assert "hello" in reply.text
    assert reply.text.endswith("\n\n")


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("token", ["", "wrong", "assay-"])
def test_without_the_runs_token_nobody_is_served(name: str, token: str, tmp_path: Path) -> None:
    with opened(name, Scripted(["never"]), tmp_path) as line:
        assert line.post(token=token).status_code == 401


@pytest.mark.parametrize("name", SAMPLES)
def test_only_its_own_routes_are_served(name: str, tmp_path: Path) -> None:
    own = {sample.path for key, sample in SAMPLES.items() if key == name}
    others = [sample.path for sample in SAMPLES.values() if sample.path not in own]
    with opened(name, Scripted(["never"]), tmp_path) as line:
        for path in (*others, "/v1/files", "/", "/v1/messages/batches", "/v1/responses/resp_1", "/v1beta/files"):
            for method in ("POST", "GET", "DELETE"):
                assert line.post(path, method=method).status_code == 403, (method, path)
        assert line.post(method="GET").status_code == 403


@pytest.mark.parametrize("name", SAMPLES)
def test_the_budget_stops_a_tool(name: str, tmp_path: Path) -> None:
    model = Metered(Scripted(lambda _: "hello"), Ledger(BudgetLimits(calls=1)))
    with opened(name, model, tmp_path) as line:
        replies = [line.post() for _ in range(3)]
        assert [reply.status_code for reply in replies] == [200, 402, 402]
        assert "budget" in line.problem(replies[-1])


@pytest.mark.parametrize("name", SAMPLES)
def test_the_hosts_affairs_are_not_told(name: str, tmp_path: Path) -> None:
    def fail(_: Request) -> str:
        raise ModelUnavailable("upstream-secret")

    with opened(name, Scripted(fail), tmp_path) as line:
        reply = line.post()
        assert (reply.status_code, line.problem(reply)) == (503, "the model cannot answer now")
        assert "upstream-secret" in line.calls()[0].problem


@pytest.mark.parametrize("name", SAMPLES)
def test_a_wrong_body_is_told(name: str, tmp_path: Path) -> None:
    with opened(name, Scripted(["never"]), tmp_path) as line:
        assert [line.post(body=body).status_code for body in ([], {}, {"model": "toy"})] == [400, 400, 400]


@pytest.mark.parametrize("name", SAMPLES)
def test_models_are_listed(name: str, tmp_path: Path) -> None:
    paths = [route.path for route in DIALECTS[name].routes if route.kind is RouteKind.MODELS]
    assert paths
    with opened(name, Scripted([]), tmp_path) as line:
        for path in paths:
            reply = line.post(path, method="GET")
            assert (reply.status_code, "toy" in reply.text) == (200, True)


@pytest.mark.parametrize(
    ("name", "path"), [("messages", "/v1/messages/count_tokens"), ("gemini", "/v1beta/models/toy:countTokens")]
)
def test_tokens_are_counted_without_asking_the_model(name: str, path: str, tmp_path: Path) -> None:
    with opened(name, Scripted([]), tmp_path) as line:
        short = line.post(path)
        assert short.status_code == 200, short.text
        (count,) = short.json().values()
        assert 0 < count < 100
        assert line.calls()[0].usage.tokens == 0


def test_tools_of_the_service_are_left_out_and_the_log_says_so(tmp_path: Path) -> None:
    asked: list[Request] = []

    def answer(request: Request) -> str:
        asked.append(request)
        return "hello"

    tools = [{"name": "run", "input_schema": {}}, {"type": "web_search_20250305", "name": "web_search"}]
    with opened("messages", Scripted(answer), tmp_path) as line:
        assert line.post(body={**line.sample.body, "tools": tools}).status_code == 200
        assert line.calls()[0].left_out == ("web_search",)
        alone = line.post(body={**line.sample.body, "tools": tools[1:]})
        assert (alone.status_code, "no web_search here" in line.problem(alone)) == (400, True)
    assert [tool.name for tool in asked[0].tools] == ["run"]
