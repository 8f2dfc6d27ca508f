from typing import Any

import pytest

from assay.agents.llm import probe as probing
from assay.agents.llm.client import Endpoint, ModelClient
from assay.agents.llm.probe import probe
from assay.harness.errors import UserError
from played_endpoint import Reply, said


def remark_about(url: str) -> str:
    with ModelClient(Endpoint(base_url=url)) as client:
        return probe(client, "toy")


def test_endpoint_that_answers_is_asked_once(endpoint: Any) -> None:
    assert remark_about(endpoint.url) == ""
    (asked,) = endpoint.asked
    assert (asked.body["model"], asked.body["max_tokens"]) == ("toy", 16)


def test_refused_question_shows_that_the_endpoint_is_there(endpoint: Any) -> None:
    endpoint.plays(Reply(status=400, body={"error": {"message": "max_tokens is not supported"}}))
    assert remark_about(endpoint.url) == ""


def test_busy_endpoint_is_remarked_on(endpoint: Any) -> None:
    endpoint.plays(Reply(status=429, body="slow down"))
    assert remark_about(endpoint.url).endswith("status 429: slow down; the run continues and asks again")


def test_slow_endpoint_is_remarked_on(endpoint: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing, "SECONDS", 0.1)
    endpoint.plays(Reply(body=said("OK"), delay=1.0))
    assert remark_about(endpoint.url).startswith(f"no answer from {endpoint.url} within 0.1 s")


@pytest.mark.parametrize(
    ("status", "body", "problem"),
    [
        (200, "<html>welcome</html>", "answers with a web page: write the address with the API's version"),
        (200, {"choices": []}, "it has no 'choices'"),
        (200, "not json", "it is not JSON"),
        (401, {"error": {"message": "no such key"}}, "no such key; check the address, the key and the model's name"),
        (404, {"error": {"message": "no model toy"}}, "no model toy; check the address"),
        (404, "<!doctype html><title>nginx</title>", "status 404: a web page; check the address"),
        (502, "<html>Bad Gateway</html>", "status 502: a web page; start the server, or correct --base-url"),
    ],
)
def test_endpoint_that_cannot_answer_is_an_error_to_correct(
    endpoint: Any, status: int, body: Any, problem: str
) -> None:
    endpoint.plays(Reply(status=status, body=body))
    with pytest.raises(UserError, match=problem):
        remark_about(endpoint.url)
    assert len(endpoint.asked) == 1


def test_dead_endpoint_is_an_error_to_correct() -> None:
    with pytest.raises(UserError, match=r"no connection to http://127\.0\.0\.1:9/v1: .*; start the server, or correct"):
        remark_about("http://127.0.0.1:9/v1")
