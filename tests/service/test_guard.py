import json
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.service import guard
from assay.service import server as serving
from served import Served, ask, connect, served, until
from toy import make_instance

pytestmark = pytest.mark.slow

Serve = Callable[..., Served]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": "Basic a-secret-of-some-length"}, 401),
        ({"Authorization": "Bearer a-secret-of-some-length"}, 200),
        ({"Authorization": "bearer a-secret-of-some-length", "Host": "gpu-7.example:8000"}, 200),
        ({"Authorization": "Bearer a-secret-of-some-length", "Origin": "http://evil.example"}, 403),
    ],
)
def test_a_token_is_asked_for(serve: Serve, headers: dict[str, str], status: int) -> None:
    with serve(token="a-secret-of-some-length").client() as client:
        assert client.get("/v1/instances", headers=headers).status_code == status
        assert client.get("/v1/health").status_code == 200


@pytest.mark.parametrize(
    "headers", [{"Host": "evil.example"}, {"Host": "[::1"}, {"Origin": "http://evil.example"}, {"Origin": "null"}]
)
def test_without_a_token_what_another_site_causes_is_refused(serve: Serve, headers: dict[str, str]) -> None:
    with serve().client() as client:
        assert client.get("/v1/instances", headers=headers).status_code == 403


def test_a_form_of_another_site_is_refused(serve: Serve) -> None:
    here = serve()
    with here.client() as client:
        assert client.post("/v1/evaluate", content=json.dumps(ask())).status_code == 415
    assert here.engine.opened == 0


@pytest.mark.parametrize("declared", [True, False])
def test_a_body_that_is_too_large_is_refused(serve: Serve, declared: bool) -> None:
    content = json.dumps(ask(patch="x" * 20_000)).encode()
    with serve(max_body=10_000).client() as client:
        got = client.post(
            "/v1/evaluate",
            content=content if declared else iter([content[:5000], content[5000:]]),
            headers={"Content-Type": "application/json"},
        )
    assert got.status_code == 413
    assert "10000" in got.json()["error"]


def test_bodies_of_many_requests_together_have_a_limit(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "MAX_HELD", 1000)
    here = serve()
    with here.client() as client:
        with connect(here) as slow:
            slow.sendall(b"POST /v1/evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000\r\n\r\n" + b"x" * 900)
            until(lambda: client.post("/v1/evaluate", json=ask(patch="y" * 200)).status_code == 503)
        until(lambda: client.post("/v1/evaluate", json=ask()).status_code == 200)


@pytest.mark.parametrize(("rest", "answer"), [(b"host\r\nContent-Length: 100\r\n\r\n{", b"HTTP/1.1 408 "), (b"", b"")])
def test_a_head_or_body_that_does_not_arrive_is_given_up(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, rest: bytes, answer: bytes
) -> None:
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.2)
    monkeypatch.setattr(serving, "HEADER_SECONDS", 0.2)
    with connect(serve()) as slow:
        slow.sendall(b"POST /v1/evaluate HTTP/1.1\r\nHost: local" + rest)
        assert slow.recv(1000)[: len(answer) or 1000] == answer


def test_a_hundred_silent_connections_keep_nobody_from_asking(serve: Serve) -> None:
    here = serve()
    silent = [connect(here) for _ in range(100)]
    with here.client() as client:
        assert client.post("/v1/evaluate", json=ask()).status_code == 200
    for each in silent:
        each.close()


def test_nonsense_is_answered_by_400(serve: Serve) -> None:
    with connect(serve()) as client:
        client.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        assert client.recv(1000).startswith(b"HTTP/1.1 400 ")


def test_a_client_that_does_not_read_its_answer_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "KEPT_SECONDS", 1)
    long = make_instance(problem_statement="x" * 30_000_000)
    with served([long], tmp_path) as here, connect(here) as deaf:
        deaf.sendall(b"GET /v1/instances/acme__calc-1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        connections = here.server._server.server_state.connections
        until(lambda: connections)
        until(lambda: not connections)
