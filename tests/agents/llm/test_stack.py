from pathlib import Path
from typing import Any

import pytest

from assay.agents.llm.budget import BudgetLimits, Ledger, Metered
from assay.agents.llm.cassette import Mode
from assay.agents.llm.client import Endpoint, ModelClient
from assay.agents.llm.errors import BudgetExceeded, RunBudgetExceeded
from assay.agents.llm.retry import Patience
from assay.agents.llm.stack import ModelSetup, Stack, probe
from assay.harness.errors import UserError
from played_endpoint import Reply, make_request, said


@pytest.fixture
def setup(endpoint: Any, tmp_path: Path) -> ModelSetup:
    prices = tmp_path / "prices.yaml"
    prices.write_text("models: {toy: {input: 10, output: 100}}")
    return ModelSetup(
        endpoint=Endpoint(base_url=endpoint.url),
        patience=Patience(first_wait=0.01),
        cassette=tmp_path / "tape.jsonl",
        prices=prices,
    )


def test_replayed_answers_count_for_the_sample_but_are_not_paid(endpoint: Any, setup: ModelSetup) -> None:
    for paid in (2, 0):
        with Stack(setup) as stack:
            ledger = Ledger(BudgetLimits(calls=2))
            model = Metered(stack.model, ledger, stack.prices)
            for text in ("one", "two"):
                model.complete(make_request(text))
            with pytest.raises(BudgetExceeded):
                model.complete(make_request("three"))
            assert ledger.spent.calls == 2
            assert ledger.spent.cost == pytest.approx(2 * 0.002)
            assert stack.paid.spent.calls == paid
            assert stack.paid.spent.cost == pytest.approx(paid * 0.002)
    assert len(endpoint.asked) == 2


def test_limits_of_the_run_hold_for_all_samples_together(endpoint: Any, setup: ModelSetup) -> None:
    with Stack(setup.model_copy(update={"limits": BudgetLimits(calls=3)})) as stack:
        for text in ("one", "two"):
            stack.model.complete(make_request(text))
        stack.model.complete(make_request("one"))
        stack.model.complete(make_request("three"))
        with pytest.raises(RunBudgetExceeded):
            stack.model.complete(make_request("four"))
    assert len(endpoint.asked) == 3


def test_failed_tries_are_paid(endpoint: Any, setup: ModelSetup) -> None:
    endpoint.plays(Reply(status=503), Reply(body="x" * 400), said("ok"))
    with Stack(setup.model_copy(update={"cassette": None})) as stack:
        answer = stack.model.complete(make_request())
        assert answer.tries == 3
        assert stack.paid.spent.tokens == 110 + answer.wasted.tokens > 210
        assert stack.paid.spent.calls == 1


def test_replay_needs_neither_server_nor_key(endpoint: Any, setup: ModelSetup) -> None:
    with Stack(setup) as stack:
        first = stack.model.complete(make_request())
    nowhere = Endpoint(base_url="http://127.0.0.1:9/v1", key_env="NO_SUCH_KEY")
    with Stack(setup.model_copy(update={"endpoint": nowhere, "mode": Mode.REPLAY})) as stack:
        assert stack.model.complete(make_request()).content == first.content
    with pytest.raises(UserError, match="NO_SUCH_KEY"):
        Stack(setup.model_copy(update={"endpoint": nowhere}))


def test_setup_survives_serialisation(setup: ModelSetup) -> None:
    assert ModelSetup.model_validate_json(setup.model_dump_json()) == setup


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
    monkeypatch.setattr("assay.agents.llm.stack.SECONDS", 0.1)
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
