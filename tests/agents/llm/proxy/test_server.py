import http.client
import json
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from assay.agents.llm.budget import BudgetLimits, Ledger, Metered
from assay.agents.llm.cassette import Cassette, Mode
from assay.agents.llm.chat import Answer, Finish, Request, TokenUsage, ToolCall
from assay.agents.llm.client import Endpoint, ModelClient
from assay.agents.llm.errors import AccessDenied, BudgetExceeded, ContextTooLong, ModelUnavailable, RequestRefused
from assay.agents.llm.proxy.handler import CallRecord
from assay.agents.llm.proxy.server import MAX_BODY_BYTES, Proxy
from assay.agents.llm.retry import Patience, Retrying
from assay.agents.llm.scripted import Scripted
from assay.harness.errors import UserError

Make = Callable[..., Any]
QUESTION = {"model": "toy", "messages": [{"role": "user", "content": "hi"}]}


def post(proxy: Proxy, body: Any = None, *, path: str = "/chat/completions", **settings: Any) -> httpx.Response:
    headers = {"Authorization": f"Bearer {settings.pop('token', proxy.token)}"}
    content = settings.pop("content", json.dumps(QUESTION if body is None else body))
    with httpx.Client(trust_env=False, timeout=10) as client:
        return client.request(
            settings.pop("method", "POST"), proxy.base_url + path, content=content, headers=headers, **settings
        )


def calls(log: Path) -> list[CallRecord]:
    return [CallRecord.model_validate_json(line) for line in log.read_text().splitlines()]


def test_an_agent_of_others_asks_through_it(
    endpoint: Any, tmp_path: Path, make_request: Make, make_said: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_KEY", "upstream-secret")
    call = {"id": "1", "type": "function", "function": {"name": "run", "arguments": '{"a": 1}'}}
    endpoint.plays(make_said("ok", message={"tool_calls": [call]}, finish_reason="tool_calls"))
    log = tmp_path / "log.jsonl"
    with (
        ModelClient(Endpoint(base_url=endpoint.url, key_env="TOY_KEY")) as upstream,
        Proxy(upstream, ["toy"], log=log) as proxy,
    ):
        monkeypatch.setenv("AGENT_KEY", proxy.token)
        with ModelClient(Endpoint(base_url=proxy.base_url, key_env="AGENT_KEY")) as agent:
            answer = agent.complete(make_request(temperature=0.25, extra={"reasoning_effort": "low"}))
    assert answer.content == "ok"
    assert answer.tool_calls == (ToolCall(id="1", name="run", arguments='{"a": 1}'),)
    assert answer.finish is Finish.TOOL_CALLS
    assert answer.usage.tokens == 110
    (asked,) = endpoint.asked
    assert asked.headers["authorization"] == "Bearer upstream-secret"
    assert (asked.body["temperature"], asked.body["reasoning_effort"]) == (0.25, "low")
    (line,) = calls(log)
    assert (line.status, line.model, line.usage.tokens) == (200, "toy", 110)
    assert "secret" not in log.read_text()
    assert proxy.token not in log.read_text()


def test_models_are_listed() -> None:
    with Proxy(Scripted([]), ["toy", "other"]) as proxy:
        told = post(proxy, path="/models", method="GET", content="").json()
    assert [model["id"] for model in told["data"]] == ["toy", "other"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/embeddings"),
        ("POST", "/completions"),
        ("POST", "/files"),
        ("POST", "/chat/completions/"),
        ("POST", "/../v1/chat/completions/../files"),
        ("POST", "//chat/completions"),
        ("GET", "/chat/completions"),
        ("GET", ""),
        ("GET", "/models/toy"),
        ("DELETE", "/models"),
        ("PUT", "/chat/completions"),
        ("PATCH", "/chat/completions"),
        ("OPTIONS", "/models"),
        ("HEAD", "/models"),
        ("TRACE", "/models"),
    ],
)
def test_other_routes_are_forbidden(method: str, path: str, tmp_path: Path) -> None:
    with Proxy(Scripted(["never"]), ["toy"], log=tmp_path / "log") as proxy:
        assert post(proxy, path=path, method=method).status_code == 403
        assert post(proxy).status_code == 200
    assert [call.status for call in calls(tmp_path / "log")] == [403, 200]


@pytest.mark.parametrize("token", ["", "wrong", "assay-", "caf\u00e9".encode("latin-1").decode("latin-1")])
def test_without_the_runs_token_nobody_is_served(token: str) -> None:
    with Proxy(Scripted(["never"]), ["toy"]) as proxy, socket.create_connection(_address(proxy)) as line:
        body = json.dumps(QUESTION)
        head = f"POST /v1/chat/completions HTTP/1.1\r\nAuthorization: Bearer {token}\r\nContent-Length: {len(body)}"
        line.sendall(f"{head}\r\n\r\n{body}".encode("latin-1"))
        assert line.recv(100).startswith(b"HTTP/1.1 401 ")
        assert post(proxy, path="/models", method="GET", token="x").status_code == 401


def _address(proxy: Proxy) -> tuple[str, int]:
    url = httpx.URL(proxy.base_url)
    assert url.port is not None
    return url.host, url.port


def test_every_proxy_has_a_token_of_its_own_and_listens_on_this_machine_only() -> None:
    with Proxy(Scripted([]), ["toy"]) as one, Proxy(Scripted([]), ["toy"]) as other:
        assert one.token != other.token
        assert _address(one)[0] == _address(other)[0] == "127.0.0.1"
        assert post(one, token=other.token).status_code == 401


def test_another_model_than_the_runs_is_not_there() -> None:
    with Proxy(Scripted(["never"]), ["toy"]) as proxy:
        reply = post(proxy, {**QUESTION, "model": "dear"})
    assert (reply.status_code, reply.json()["error"]["code"]) == (404, "model_not_found")


@pytest.mark.parametrize(
    ("content", "status"),
    [
        ("{broken", 400),
        ("[]", 400),
        ("[" * 100_000, 400),
        ('{"model": "toy"}', 400),
        ('{"model": "toy", "messages": [{"role": "king"}]}', 400),
        ('{"model": "toy", "messages": [{"role": "user"}], "n": 1000}', 400),
        ('{"model": "toy", "messages": [{"role": "user"}], "n": "two"}', 400),
        ("", 400),
    ],
)
def test_a_wrong_body_is_told(content: str, status: int) -> None:
    with Proxy(Scripted(["never"]), ["toy"]) as proxy:
        reply = post(proxy, content=content)
    assert (reply.status_code, reply.json()["error"]["code"]) == (status, "invalid_request")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Length": str(MAX_BODY_BYTES + 1)}, 413),
        ({"Content-Length": "9" * 400}, 413),
        ({"Content-Length": "-5"}, 411),
        ({"Content-Length": "x"}, 411),
        ({"Transfer-Encoding": "chunked"}, 411),
    ],
)
def test_the_length_must_be_told_and_have_bounds(headers: dict[str, str], status: int) -> None:
    with Proxy(Scripted(["never"]), ["toy"]) as proxy:
        line = http.client.HTTPConnection(*_address(proxy), timeout=5)
        line.putrequest("POST", "/v1/chat/completions")
        for name, value in {"Authorization": f"Bearer {proxy.token}", **headers}.items():
            line.putheader(name, value)
        line.endheaders()
        with line.getresponse() as reply:
            assert reply.status == status
        line.close()


@pytest.mark.parametrize(
    ("error", "status", "code", "is_told"),
    [
        (BudgetExceeded("spent", limit="cost"), 402, "budget_exceeded", True),
        (ContextTooLong("detail"), 400, "context_length_exceeded", True),
        (RequestRefused("detail"), 400, "request_refused", True),
        (ModelUnavailable("detail"), 503, "model_unavailable", False),
        (AccessDenied("detail"), 502, "model_error", False),
        (ZeroDivisionError("detail"), 502, "model_error", False),
    ],
)
def test_errors_have_a_status_and_keep_the_hosts_affairs(
    tmp_path: Path, error: Exception, status: int, code: str, is_told: bool
) -> None:
    def fail(_: Request) -> Answer:
        raise error

    with Proxy(Scripted(fail), ["toy"], log=tmp_path / "log") as proxy:
        reply = post(proxy)
    assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)
    assert (str(error) in reply.json()["error"]["message"]) == is_told
    (call,) = calls(tmp_path / "log")
    assert call.problem == f"{type(error).__name__}: {error}"


def test_what_failed_tries_cost_is_in_the_log(tmp_path: Path) -> None:
    def fail(_: Request) -> Answer:
        raise ModelUnavailable("slow", spent=TokenUsage(prompt_tokens=70, cost=0.5))

    with Proxy(Scripted(fail), ["toy"], log=tmp_path / "log") as proxy:
        post(proxy)
    assert calls(tmp_path / "log")[0].wasted == TokenUsage(prompt_tokens=70, cost=0.5)


def test_the_budget_stops_an_agent(endpoint: Any) -> None:
    ledger = Ledger(BudgetLimits(calls=2))
    with ModelClient(Endpoint(base_url=endpoint.url)) as client, Proxy(Metered(client, ledger), ["toy"]) as proxy:
        statuses = [post(proxy).status_code for _ in range(4)]
    assert statuses == [200, 200, 402, 402]
    assert len(endpoint.asked) == 2
    assert ledger.spent.tokens == 220


def test_an_agent_that_asks_the_same_again_gets_another_answer_and_the_same_ones_in_a_replay(tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    lines = (str(number) for number in range(9))
    for model in (Scripted(lines), Scripted([])):
        with Cassette(tape, Mode.AUTO, model) as cassette, Proxy(cassette, ["toy"]) as proxy:
            said = [post(proxy).json()["choices"][0]["message"]["content"] for _ in range(3)]
            more = post(proxy, {**QUESTION, "n": 2}).json()
        assert said == ["0", "1", "2"]
        assert [choice["message"]["content"] for choice in more["choices"]] == ["3", "4"]


def test_a_try_that_failed_takes_no_samples_number(endpoint: Any, tmp_path: Path, make_reply: Make) -> None:
    ok = endpoint.replies[0]
    endpoint.plays(make_reply(status=500), ok)
    tape = tmp_path / "tape.jsonl"
    with ModelClient(Endpoint(base_url=endpoint.url)) as client:
        for _ in range(2):
            with Cassette(tape, Mode.AUTO, client) as cassette, Proxy(cassette, ["toy"]) as proxy:
                while post(proxy).status_code != 200:
                    pass
    assert len(endpoint.asked) == 2, "one failed, one answered; the second run only replayed"


def test_a_replay_that_misses_is_not_tried_again(tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    tape.touch()
    with Cassette(tape, Mode.REPLAY) as cassette, Proxy(cassette, ["toy"]) as proxy:
        reply = post(proxy)
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, "cassette_miss")
    assert str(tmp_path) not in reply.text


def test_who_wants_a_stream_gets_one() -> None:
    with Proxy(Scripted(["hello"]), ["toy"]) as proxy:
        reply = post(proxy, {**QUESTION, "stream": True})
    assert reply.headers["content-type"] == "text/event-stream"
    events = [line.removeprefix("data: ") for line in reply.text.split("\n\n") if line]
    assert events[-1] == "[DONE]"
    assert json.loads(events[0])["choices"][0]["delta"]["content"] == "hello"


def test_it_listens_on_a_unix_socket_too(tmp_path: Path) -> None:
    path = tmp_path / "model.sock"
    with Proxy(Scripted(["hello"]), ["toy"], unix_socket=path) as proxy:
        transport = httpx.HTTPTransport(uds=str(path))
        with httpx.Client(transport=transport, headers={"Authorization": f"Bearer {proxy.token}"}) as client:
            reply = client.post(f"{proxy.base_url}/chat/completions", json=QUESTION)
            assert client.get(f"{proxy.base_url}/secrets").status_code == 403
        assert reply.json()["choices"][0]["message"]["content"] == "hello"
    assert not path.exists()


@pytest.mark.parametrize("name", ["x" * 120, "no/such/folder/s"])
def test_a_socket_that_cannot_be_is_told(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="socket"):
        Proxy(Scripted([]), ["toy"], unix_socket=tmp_path / name)


def test_many_ask_at_once(tmp_path: Path) -> None:
    with Proxy(Scripted(lambda _: "x"), ["toy"], log=tmp_path / "log") as proxy, ThreadPoolExecutor(16) as pool:
        replies = list(pool.map(lambda _: post(proxy), range(64)))
    assert {reply.status_code for reply in replies} == {200}
    assert len(calls(tmp_path / "log")) == 64


def test_an_answer_under_way_is_waited_for_and_recorded(tmp_path: Path) -> None:
    begun = threading.Event()

    def play(_: Request) -> str:
        begun.set()
        time.sleep(0.3)
        return "late"

    tape = tmp_path / "tape.jsonl"
    with Cassette(tape, Mode.AUTO, Scripted(play)) as cassette:
        proxy = Proxy(cassette, ["toy"])
        with socket.create_connection(_address(proxy)) as line:
            body = json.dumps(QUESTION)
            head = f"POST /v1/chat/completions HTTP/1.1\r\nAuthorization: Bearer {proxy.token}"
            line.sendall(f"{head}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
            assert begun.wait(5)
        proxy.close()
    assert len(tape.read_text().splitlines()) == 1


def test_who_sends_nothing_holds_nobody_up() -> None:
    proxy = Proxy(Scripted(["x"]), ["toy"])
    with socket.create_connection(_address(proxy)), socket.create_connection(_address(proxy)) as half:
        half.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Le")
        assert post(proxy).status_code == 200
        began = time.monotonic()
        proxy.close()
        assert time.monotonic() - began < 5


def test_retries_of_the_host_are_hidden_from_the_agent(endpoint: Any, make_reply: Make, make_said: Make) -> None:
    endpoint.plays(make_reply(status=429), make_reply(body="{"), make_said("at last"))
    with ModelClient(Endpoint(base_url=endpoint.url)) as client:
        model = Retrying(client, Patience(first_wait=0.01))
        with Proxy(model, ["toy"]) as proxy:
            assert post(proxy).json()["choices"][0]["message"]["content"] == "at last"
