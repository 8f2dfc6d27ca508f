import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from assay.agents.llm.chat import JSON_MODE, Finish, Message, Request, Speaker, Tool, ToolCall
from assay.agents.llm.client import Endpoint, ModelClient
from assay.agents.llm.errors import (
    AccessDenied,
    BadAnswer,
    ContextTooLong,
    ModelUnavailable,
    NoChatModel,
    RequestRefused,
    TooSlow,
)
from assay.agents.llm.prices import Price, Prices
from assay.harness.errors import RunStopped, UserError
from played_endpoint import Reply, make_request, said

PRICES = Prices(models={"toy": Price(input=10, output=100)})


def ask(url: str, request: Request, prices: Prices = PRICES, **settings: Any) -> Any:
    with ModelClient(Endpoint(base_url=url, **settings), prices) as client:
        return client.complete(request)


def test_question_is_one_post_and_its_reply_the_answer(endpoint: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOY_KEY", "  secret  ")
    answer = ask(endpoint.url, make_request(), key_env="TOY_KEY")
    (asked,) = endpoint.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == "Bearer secret"
    assert asked.body == {
        "model": "toy",
        "messages": [{"role": "user", "content": "what is two plus two?"}],
        "stream": False,
    }
    assert (answer.content, answer.finish, answer.model) == ("hello", Finish.STOP, "toy-2026-01-01")
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (100, 10)
    assert answer.usage.cost == pytest.approx(100 * 10e-6 + 10 * 100e-6)


def test_parameters_are_posted_under_the_names_of_the_api(endpoint: Any) -> None:
    tool = Tool(name="run", description="runs", parameters={"type": "object"})
    request = make_request(
        tools=(tool,),
        tool_choice="required",
        temperature=0.5,
        top_p=0.9,
        max_tokens=7,
        stop=("END",),
        seed=3,
        response_format=JSON_MODE,
        sample=4,
        extra={"reasoning_effort": "low", "stream": True},
    )
    ask(endpoint.url, request, limit_field="max_completion_tokens")
    body = endpoint.asked[0].body
    del body["messages"]
    function = {"name": "run", "description": "runs", "parameters": {"type": "object"}}
    assert body == {
        "model": "toy",
        "tools": [{"type": "function", "function": function}],
        "tool_choice": "required",
        "temperature": 0.5,
        "top_p": 0.9,
        "max_completion_tokens": 7,
        "stop": ["END"],
        "seed": 3,
        "response_format": {"type": "json_object"},
        "reasoning_effort": "low",
        "stream": False,
    }


def test_tool_call_is_read_and_posted_back(endpoint: Any) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": '{"cmd": "ls"}'}}
    message = {"content": None, "tool_calls": [call], "reasoning_content": "let me look"}
    endpoint.plays(said(message=message, finish_reason="tool_calls"))
    answer = ask(endpoint.url, make_request())
    assert answer.tool_calls == (ToolCall(id="c1", name="run", arguments='{"cmd": "ls"}'),)
    assert (answer.content, answer.reasoning, answer.finish) == ("", "let me look", Finish.TOOL_CALLS)

    result = Message(role=Speaker.TOOL, content="a.py", tool_call_id="c1")
    ask(endpoint.url, make_request(messages=(answer.make_message(), result)))
    assert endpoint.asked[1].body["messages"] == [
        {"role": "assistant", "content": None, "tool_calls": [call], "reasoning_content": "let me look"},
        {"role": "tool", "content": "a.py", "tool_call_id": "c1"},
    ]


def test_unreported_usage_is_estimated(endpoint: Any) -> None:
    endpoint.plays(said("x" * 400, usage=None))
    usage = ask(endpoint.url, make_request()).usage
    assert usage.estimated
    assert usage.completion_tokens == 100
    assert usage.cost is not None
    assert usage.cost > 100 * 100e-6


def test_cost_reported_by_the_endpoint_is_kept(endpoint: Any) -> None:
    endpoint.plays(said("x", usage={"prompt_tokens": 5, "completion_tokens": 1, "cost": 0.25}))
    assert ask(endpoint.url, make_request()).usage.cost == 0.25


def test_unknown_price_leaves_the_cost_unknown(endpoint: Any) -> None:
    usage = ask(endpoint.url, make_request(), Prices()).usage
    assert usage.tokens == 110
    assert usage.cost is None


@pytest.mark.parametrize(
    "body", ["{not json", "", "[" * 100_000, '{"choices": [{"message": {"tool_calls": [{"function": 3}]}}]}']
)
def test_unreadable_answer_raises_and_is_billed(endpoint: Any, body: str) -> None:
    endpoint.plays(Reply(body=body))
    with pytest.raises(BadAnswer) as caught:
        ask(endpoint.url, make_request())
    assert caught.value.is_transient
    assert caught.value.spent.prompt_tokens > 0
    assert caught.value.spent.cost


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("[]", "it is not a JSON object"),
        ('{"choices": []}', "it has no 'choices'"),
        ('{"choices": [{}]}', "its choice has no 'message'"),
        ('{"choices": [{"message": 3}]}', "its choice has no 'message'"),
        ("\n <!DOCTYPE html><html><p>welcome</p></html>", "answers with a web page: write the address with the API's"),
    ],
)
def test_reply_of_no_chat_model_is_no_passing_fault(endpoint: Any, body: str, reason: str) -> None:
    endpoint.plays(Reply(body=body))
    with pytest.raises(NoChatModel, match=reason) as caught:
        ask(endpoint.url, make_request())
    assert not caught.value.is_transient
    assert caught.value.is_infrastructure
    assert endpoint.url in str(caught.value)


def test_answer_is_waited_for_until_the_deadline_of_the_request(endpoint: Any) -> None:
    endpoint.plays(Reply(body=said("late"), delay=2.0))
    began = time.monotonic()
    with pytest.raises(TooSlow, match="no answer from"):
        ask(endpoint.url, make_request(deadline=began + 0.2))
    assert time.monotonic() - began < 1.8


def test_abort_releases_who_waits(endpoint: Any) -> None:
    endpoint.plays(Reply(body=said("late"), delay=3.0))
    began = time.monotonic()
    with ModelClient(Endpoint(base_url=endpoint.url), PRICES) as client, ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(client.complete, make_request(text)) for text in ("one", "two")]
        while len(endpoint.asked) < 2:
            time.sleep(0.01)
        client.calls.abort()
        for each in waiting:
            with pytest.raises(RunStopped):
                each.result()
        with pytest.raises(RunStopped):
            client.complete(make_request("three"))
    assert time.monotonic() - began < 2.5


def test_unreadable_answer_is_billed_by_its_reported_usage(endpoint: Any) -> None:
    endpoint.plays({"choices": [], "usage": {"prompt_tokens": 1000, "completion_tokens": 50}})
    with pytest.raises(BadAnswer) as caught:
        ask(endpoint.url, make_request())
    assert caught.value.spent.tokens == 1050
    assert caught.value.spent.cost == pytest.approx(1000 * 10e-6 + 50 * 100e-6)


@pytest.mark.parametrize("how", [{"delay": 2.0}, {"drip": 0.05}])
def test_slow_endpoint_is_abandoned_at_the_timeout(endpoint: Any, how: dict[str, Any]) -> None:
    endpoint.plays(Reply(body=said("x" * 20), **how))
    began = time.monotonic()
    with pytest.raises(ModelUnavailable, match=r"within 0\.3 s") as caught:
        ask(endpoint.url, make_request(), timeout=0.3)
    assert time.monotonic() - began < 1.8
    assert caught.value.spent.prompt_tokens > 0, "the question got through, so it may be billed"


def test_broken_connection_raises_model_unavailable(endpoint: Any) -> None:
    endpoint.plays(Reply(body='{"choices"', cut=500))
    with pytest.raises(ModelUnavailable, match="broke"):
        ask(endpoint.url, make_request())


def test_refused_connection_costs_nothing(endpoint: Any) -> None:
    with pytest.raises(ModelUnavailable, match="no connection") as caught:
        ask("http://127.0.0.1:9/v1", make_request())
    assert caught.value.spent.tokens == 0
    assert caught.value.spent.cost == 0


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (503, "busy", ModelUnavailable),
        (502, "<html><h1>Bad Gateway</h1></html>", ModelUnavailable),
        (400, {"error": {"message": "temperature is out of range"}}, RequestRefused),
        (400, {"error": {"code": "context_length_exceeded", "message": "too many"}}, ContextTooLong),
        (401, {"error": {"message": "wrong key"}}, AccessDenied),
        (302, "", AccessDenied),
        (200, {"error": {"message": "overloaded", "code": 529}}, ModelUnavailable),
        (200, {"error": {"message": "bad", "code": 400}}, RequestRefused),
        (200, {"error": "what"}, ModelUnavailable),
    ],
)
def test_error_status_raises_its_error(endpoint: Any, status: int, body: Any, kind: type[Exception]) -> None:
    endpoint.plays(Reply(status=status, body=body, headers={"Location": endpoint.url} if status == 302 else {}))
    with pytest.raises(kind) as caught:
        ask(endpoint.url, make_request())
    assert type(caught.value) is kind
    assert len(endpoint.asked) == 1


def test_key_in_an_error_message_is_masked(endpoint: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOY_KEY", "secret-123")
    endpoint.plays(Reply(status=401, body={"error": {"message": "no such key: secret-123"}}))
    with pytest.raises(AccessDenied) as caught:
        ask(endpoint.url, make_request(), key_env="TOY_KEY")
    assert "secret" not in str(caught.value)
    assert "no such key: [key]" in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"base_url": "localhost:8000/v1"}, "https://host/v1"),
        ({"base_url": "https://"}, "https://host/v1"),
        ({"base_url": "https://a:b/v1"}, "https://host/v1"),
        ({"base_url": "http://x/v1", "key_env": "NO_SUCH_KEY"}, "NO_SUCH_KEY is not set"),
        ({"base_url": "http://x/v1", "key_env": "ODD_KEY"}, "ODD_KEY has characters"),
    ],
)
def test_wrong_settings_raise_user_error(
    settings: dict[str, Any], problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ODD_KEY", "a\nb")
    with pytest.raises(UserError, match=problem):
        ModelClient(Endpoint(**settings))


def test_half_a_surrogate_pair_in_an_answer_becomes_a_question_mark(endpoint: Any) -> None:
    endpoint.plays(said("\ud800 \U0001f600"))
    assert ask(endpoint.url, make_request()).content == "? \U0001f600"


def test_any_text_can_be_sent(endpoint: Any) -> None:
    text = "a\x00b \ud800 \U0001f600 ```"
    ask(endpoint.url, make_request(text))
    assert endpoint.asked[0].body["messages"][0]["content"] == text


def test_threads_share_a_client(endpoint: Any) -> None:
    with ModelClient(Endpoint(base_url=endpoint.url)) as client, ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(client.complete, [make_request(str(number)) for number in range(24)]))
    assert len(answers) == 24
    assert {asked.body["messages"][0]["content"] for asked in endpoint.asked} == {str(n) for n in range(24)}
