import http.client
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from assay.agents.llm.cassette import Cassette, Mode
from assay.agents.llm.chat import Finish, Request, ToolCall
from assay.agents.llm.client import Endpoint, ModelClient
from assay.agents.llm.proxy.handler import CallRecord
from assay.agents.llm.proxy.server import MAX_BODY_BYTES, Proxy
from assay.agents.llm.retry import Patience, Retrying
from assay.agents.llm.scripted import Scripted
from assay.harness.errors import UserError
from played_endpoint import Reply, make_request, said

QUESTION = {"model": "toy", "messages": [{"role": "user", "content": "hi"}]}


def post(proxy: Proxy, *, path: str = "/chat/completions", method: str = "POST", token: str = "") -> httpx.Response:
    headers = {"Authorization": f"Bearer {token or proxy.token}"}
    with httpx.Client(trust_env=False, timeout=10) as client:
        return client.request(method, proxy.base_url + path, content=json.dumps(QUESTION), headers=headers)


def address_of(proxy: Proxy) -> tuple[str, int]:
    url = httpx.URL(proxy.base_url)
    assert url.port is not None
    return url.host, url.port


def test_client_asks_an_endpoint_through_the_proxy(
    endpoint: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_KEY", "upstream-secret")
    call = {"id": "1", "type": "function", "function": {"name": "run", "arguments": '{"a": 1}'}}
    endpoint.plays(said("ok", message={"tool_calls": [call]}, finish_reason="tool_calls"))
    log = tmp_path / "log.jsonl"
    with (
        ModelClient(Endpoint(base_url=endpoint.url, key_env="TOY_KEY")) as upstream,
        Proxy(upstream, ["toy"], log=log) as proxy,
    ):
        monkeypatch.setenv("AGENT_KEY", proxy.token)
        with ModelClient(Endpoint(base_url=proxy.base_url, key_env="AGENT_KEY")) as agent:
            extra = {"reasoning_effort": "low", "plugins": [{"id": "web"}], "models": ["other"]}
            answer = agent.complete(make_request(temperature=0.25, extra=extra))
    assert answer.content == "ok"
    assert answer.tool_calls == (ToolCall(id="1", name="run", arguments='{"a": 1}'),)
    assert answer.finish is Finish.TOOL_CALLS
    assert answer.usage.tokens == 110
    (asked,) = endpoint.asked
    assert asked.headers["authorization"] == "Bearer upstream-secret"
    assert (asked.body["temperature"], asked.body["reasoning_effort"]) == (0.25, "low")
    assert not {"plugins", "models"} & asked.body.keys()
    (record,) = [CallRecord.model_validate_json(line) for line in log.read_text().splitlines()]
    assert (record.status, record.model, record.usage.tokens) == (200, "toy", 110)
    assert record.left_out == ("models", "plugins")
    assert "secret" not in log.read_text()
    assert proxy.token not in log.read_text()


@pytest.mark.parametrize("method", ["GET", "POST", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
def test_every_method_gets_a_reply(method: str) -> None:
    with Proxy(Scripted(["never"]), ["toy"]) as proxy:
        assert post(proxy, path="/secrets", method=method).status_code == 403


def test_each_proxy_has_its_own_token_and_listens_on_this_machine_only() -> None:
    with Proxy(Scripted([]), ["toy"]) as one, Proxy(Scripted([]), ["toy"]) as other:
        assert one.token != other.token
        assert address_of(one)[0] == address_of(other)[0] == "127.0.0.1"
        assert post(one, token=other.token).status_code == 401


def test_token_that_is_not_ascii_is_rejected() -> None:
    head = "POST /v1/chat/completions HTTP/1.1\r\nAuthorization: Bearer caf\u00e9\r\nContent-Length: 0\r\n\r\n"
    with Proxy(Scripted(["never"]), ["toy"]) as proxy, socket.create_connection(address_of(proxy)) as connection:
        connection.sendall(head.encode("latin-1"))
        assert connection.recv(100).startswith(b"HTTP/1.1 401 ")


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
def test_missing_or_too_large_content_length_is_rejected(headers: dict[str, str], status: int) -> None:
    with Proxy(Scripted(["never"]), ["toy"]) as proxy:
        connection = http.client.HTTPConnection(*address_of(proxy), timeout=5)
        connection.putrequest("POST", "/v1/chat/completions")
        for name, value in {"Authorization": f"Bearer {proxy.token}", **headers}.items():
            connection.putheader(name, value)
        connection.endheaders()
        with connection.getresponse() as reply:
            assert reply.status == status
        connection.close()


def test_unix_socket_is_served_and_removed(tmp_path: Path) -> None:
    path = tmp_path / "model.sock"
    with Proxy(Scripted(["hello"]), ["toy"], unix_socket=path) as proxy:
        transport = httpx.HTTPTransport(uds=str(path))
        with httpx.Client(transport=transport, headers={"Authorization": f"Bearer {proxy.token}"}) as client:
            reply = client.post(f"{proxy.base_url}/chat/completions", json=QUESTION)
            assert client.get(f"{proxy.base_url}/secrets").status_code == 403
        assert reply.json()["choices"][0]["message"]["content"] == "hello"
    assert not path.exists()


@pytest.mark.parametrize("name", ["x" * 120, "no/such/folder/s"])
def test_socket_that_cannot_be_created_raises(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="socket"):
        Proxy(Scripted([]), ["toy"], unix_socket=tmp_path / name)


def test_requests_are_answered_concurrently(tmp_path: Path) -> None:
    together = threading.Barrier(8)

    def answer(_: Request) -> str:
        together.wait(10)
        return "x"

    with Proxy(Scripted(answer), ["toy"], log=tmp_path / "log") as proxy, ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda _: post(proxy), range(16)))
    assert {reply.status_code for reply in replies} == {200}
    assert len((tmp_path / "log").read_text().splitlines()) == 16


def test_close_waits_for_an_answer_under_way_and_records_it(tmp_path: Path) -> None:
    started, go = threading.Event(), threading.Event()

    def answer(_: Request) -> str:
        started.set()
        go.wait(5)
        return "late"

    tape = tmp_path / "tape.jsonl"
    with Cassette(tape, Mode.AUTO, Scripted(answer)) as cassette:
        proxy = Proxy(cassette, ["toy"])
        with socket.create_connection(address_of(proxy)) as connection:
            body = json.dumps(QUESTION)
            head = f"POST /v1/chat/completions HTTP/1.1\r\nAuthorization: Bearer {proxy.token}"
            connection.sendall(f"{head}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
            assert started.wait(5)
        closing = threading.Thread(target=proxy.close)
        closing.start()
        closing.join(0.1)
        assert closing.is_alive()
        go.set()
        closing.join(5)
        assert not closing.is_alive()
    assert len(tape.read_text().splitlines()) == 1


def test_idle_connections_do_not_delay_requests_or_close() -> None:
    proxy = Proxy(Scripted(["x"]), ["toy"])
    with socket.create_connection(address_of(proxy)), socket.create_connection(address_of(proxy)) as half:
        half.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Le")
        assert post(proxy).status_code == 200
        start = time.monotonic()
        proxy.close()
        assert time.monotonic() - start < 30, "less than the time that a request may take to arrive"


def test_retries_are_hidden_from_the_client(endpoint: Any) -> None:
    endpoint.plays(Reply(status=429), Reply(body="{"), said("at last"))
    with (
        ModelClient(Endpoint(base_url=endpoint.url)) as client,
        Proxy(Retrying(client, Patience(first_wait=0)), ["toy"]) as proxy,
    ):
        assert post(proxy).json()["choices"][0]["message"]["content"] == "at last"
