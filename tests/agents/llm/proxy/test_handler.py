import json
from pathlib import Path
from typing import Any

import pytest

from assay.agents.llm.cassette import Cassette, Mode
from assay.agents.llm.chat import Answer, ChatModel, Request, TokenUsage
from assay.agents.llm.errors import AccessDenied, BudgetExceeded, ContextTooLong, ModelUnavailable, RequestRefused
from assay.agents.llm.proxy.dialects.base import HttpReply, HttpRequest
from assay.agents.llm.proxy.handler import CallRecord, ProxyHandler
from assay.agents.llm.scripted import Scripted
from tables import read_tables

TABLES = read_tables(__file__)

QUESTION = {"model": "toy", "messages": [{"role": "user", "content": "hi"}]}


def handler(model: ChatModel, log: Path | None = None) -> ProxyHandler:
    return ProxyHandler(model, ["toy", "other"], "the-token", log)


def post(
    body: Any = None, path: str = "/v1/chat/completions", *, method: str = "POST", token: str = "the-token"
) -> HttpRequest:
    content = body if isinstance(body, bytes) else json.dumps(QUESTION if body is None else body).encode()
    return HttpRequest(method, path, headers={"authorization": f"Bearer {token}"}, body=content)


def error_of(reply: HttpReply) -> tuple[int, str]:
    return reply.status, json.loads(reply.body)["error"]["code"]


def texts_of(reply: HttpReply) -> list[str]:
    return [choice["message"]["content"] for choice in json.loads(reply.body)["choices"]]


def records(log: Path) -> list[CallRecord]:
    return [CallRecord.model_validate_json(line) for line in log.read_text().splitlines()]


def test_question_is_answered_and_logged(tmp_path: Path) -> None:
    asked: list[Request] = []

    def answer(request: Request) -> Answer:
        asked.append(request)
        return Answer(content="hello", usage=TokenUsage(prompt_tokens=100, completion_tokens=10))

    reply = handler(Scripted(answer), tmp_path / "log").answer(post({**QUESTION, "temperature": 0.25}))
    assert (reply.status, reply.content_type, texts_of(reply)) == (200, "application/json", ["hello"])
    assert asked[0].temperature == 0.25
    (record,) = records(tmp_path / "log")
    assert (record.request, record.status, record.model) == ("POST /v1/chat/completions", 200, "toy")
    assert record.usage.tokens == 110
    assert "the-token" not in (tmp_path / "log").read_text()


@pytest.mark.parametrize(("method", "path"), TABLES["other_route_is_forbidden"])
def test_other_route_is_forbidden(method: str, path: str, tmp_path: Path) -> None:
    served = handler(Scripted(["never"]), tmp_path / "log")
    for reply in (served.answer(post(path=path, method=method)), served.reject_early(post(path=path, method=method))):
        assert reply is not None
        assert error_of(reply) == (403, "forbidden")
    assert [record.status for record in records(tmp_path / "log")] == [403, 403]


@pytest.mark.parametrize("token", ["", "wrong", "assay-", "caf\u00e9", "\udcff"])
def test_wrong_token_is_rejected(token: str) -> None:
    served = handler(Scripted(["never"]))
    for reply in (served.answer(post(token=token)), served.reject_early(post(token=token))):
        assert reply is not None
        assert error_of(reply) == (401, "invalid_api_key")


def test_valid_request_is_not_rejected_early() -> None:
    assert handler(Scripted([])).reject_early(post()) is None


def test_unknown_model_is_rejected() -> None:
    reply = handler(Scripted(["never"])).answer(post({**QUESTION, "model": "dear"}))
    assert error_of(reply) == (404, "model_not_found")


@pytest.mark.parametrize(
    "content",
    [
        b"{broken",
        b"[]",
        b"[" * 100_000,
        b'{"model": "toy"}',
        b'{"model": "toy", "messages": [{"role": "king"}]}',
        b'{"model": "toy", "messages": [{"role": "user"}], "n": 1000}',
        b'{"model": "toy", "messages": [{"role": "user"}], "n": "two"}',
        b"",
        b"\xff",
    ],
)
def test_malformed_body_is_rejected(content: bytes) -> None:
    assert error_of(handler(Scripted(["never"])).answer(post(content))) == (400, "invalid_request")


@pytest.mark.parametrize(
    ("error", "status", "code", "is_shown"),
    [
        (BudgetExceeded("detail", limit="cost"), 402, "budget_exceeded", True),
        (ContextTooLong("detail"), 400, "context_length_exceeded", True),
        (RequestRefused("detail"), 400, "request_refused", True),
        (ModelUnavailable("detail"), 503, "model_unavailable", False),
        (AccessDenied("detail"), 502, "model_error", False),
        (ZeroDivisionError("detail"), 502, "model_error", False),
    ],
)
def test_error_of_the_model_becomes_a_status_without_details_of_the_host(
    tmp_path: Path, error: Exception, status: int, code: str, is_shown: bool
) -> None:
    def fail(_: Request) -> Answer:
        raise error

    reply = handler(Scripted(fail), tmp_path / "log").answer(post())
    assert error_of(reply) == (status, code)
    assert ("detail" in reply.body) == is_shown
    (record,) = records(tmp_path / "log")
    assert record.problem == f"{type(error).__name__}: detail"


def test_usage_of_failed_tries_is_logged(tmp_path: Path) -> None:
    def fail(_: Request) -> Answer:
        raise ModelUnavailable("slow", spent=TokenUsage(prompt_tokens=70, cost=0.5))

    handler(Scripted(fail), tmp_path / "log").answer(post())
    assert records(tmp_path / "log")[0].wasted == TokenUsage(prompt_tokens=70, cost=0.5)


def test_repeated_question_gets_other_answers_and_the_same_ones_in_a_replay(tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    lines = (str(number) for number in range(9))
    for model in (Scripted(lines), Scripted([])):
        with Cassette(tape, Mode.AUTO, model) as cassette:
            served = handler(cassette)
            assert [texts_of(served.answer(post())) for _ in range(3)] == [["0"], ["1"], ["2"]]
            assert texts_of(served.answer(post({**QUESTION, "n": 2}))) == ["3", "4"]


def test_failed_request_uses_no_sample_number(tmp_path: Path) -> None:
    fails = [True, False]

    def answer(_: Request) -> str:
        if fails.pop(0):
            raise ModelUnavailable("busy")
        return "x"

    for statuses in ([503, 200], [200]):
        with Cassette(tmp_path / "tape.jsonl", Mode.AUTO, Scripted(answer)) as cassette:
            served = handler(cassette)
            assert [served.answer(post()).status for _ in statuses] == statuses, "the second run only replays"


def test_miss_in_a_replay_is_an_error_that_clients_do_not_retry(tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    tape.touch()
    with Cassette(tape, Mode.REPLAY) as cassette:
        reply = handler(cassette).answer(post())
    assert error_of(reply) == (400, "cassette_miss")
    assert str(tmp_path) not in reply.body
