import re
import time
from typing import Any

import pytest

from assay.agents.llm.client import Endpoint, ModelClient
from assay.agents.llm.errors import (
    AccessDenied,
    BudgetExceeded,
    ContextTooLong,
    ModelUnavailable,
    NoChatModel,
    RequestRefused,
)
from assay.agents.llm.prices import Price, Prices
from assay.agents.llm.retry import Patience, Retrying
from assay.agents.llm.scripted import Scripted
from played_endpoint import Reply, make_request, said

PRICES = Prices(models={"toy": Price(input=10, output=100)})


class Asking:
    """A client with retries around it, whose waits are noted instead of waited."""

    def __init__(self, url: str, **patience: Any) -> None:
        self.waits: list[float] = []
        self.client = ModelClient(Endpoint(base_url=url), PRICES)
        self.model = Retrying(self.client, Patience(**patience), self.waits.append)


def test_busy_endpoint_is_retried_after_its_retry_after(endpoint: Any) -> None:
    busy = Reply(status=429, body="slow down", headers={"Retry-After": "17"})
    endpoint.plays(busy, Reply(status=503), said("4"))
    asking = Asking(endpoint.url)
    answer = asking.model.complete(make_request())
    assert (answer.content, answer.tries) == ("4", 3)
    assert len(endpoint.asked) == 3
    assert asking.waits[0] >= 17
    assert 2 <= asking.waits[1] <= 3, "the second wait is twice the first, with jitter"
    assert answer.wasted.tokens == 0


def test_answer_reports_the_usage_of_failed_tries(endpoint: Any) -> None:
    endpoint.plays(Reply(body="{broken" + "x" * 393), said("4"))
    answer = Asking(endpoint.url).model.complete(make_request())
    assert answer.usage.tokens == 110
    assert answer.wasted.completion_tokens == 100
    assert answer.wasted.cost is not None
    assert answer.wasted.cost > 100 * 100e-6


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "x", RequestRefused),
        (400, "context_length_exceeded", ContextTooLong),
        (401, "x", AccessDenied),
        (403, "x", AccessDenied),
        (404, "x", AccessDenied),
        (429, "insufficient_quota", AccessDenied),
        (200, "", NoChatModel),
    ],
)
def test_permanent_error_is_not_retried(endpoint: Any, status: int, code: str, kind: type[Exception]) -> None:
    body: dict[str, Any] = {"error": {"code": code, "message": "no"}} if code else {"choices": []}
    endpoint.plays(Reply(status=status, body=body))
    asking = Asking(endpoint.url)
    with pytest.raises(kind):
        asking.model.complete(make_request())
    assert (len(endpoint.asked), asking.waits) == (1, [])


def test_last_error_reports_the_usage_of_all_tries(endpoint: Any) -> None:
    endpoint.plays(Reply(body="x" * 40))
    asking = Asking(endpoint.url, tries=3)
    with pytest.raises(Exception, match="cannot be read") as caught:
        asking.model.complete(make_request())
    assert len(endpoint.asked) == 3
    assert caught.value.spent.completion_tokens == 30  # type: ignore[attr-defined]


def test_too_long_retry_after_is_not_waited_for(endpoint: Any) -> None:
    endpoint.plays(Reply(status=429, headers={"Retry-After": "3600"}))
    asking = Asking(endpoint.url, longest_wait=60)
    with pytest.raises(ModelUnavailable):
        asking.model.complete(make_request())
    assert (len(endpoint.asked), asking.waits) == (1, [])


def test_waits_grow_to_the_longest_wait(endpoint: Any) -> None:
    endpoint.plays(Reply(status=500))
    asking = Asking(endpoint.url, tries=6, first_wait=1, longest_wait=5)
    with pytest.raises(ModelUnavailable):
        asking.model.complete(make_request())
    assert len(asking.waits) == 5
    assert asking.waits == sorted(asking.waits)
    assert asking.waits[-1] == 5


def test_other_errors_are_not_retried() -> None:
    def refuse(_: Any) -> str:
        raise BudgetExceeded("spent", limit="calls")

    waits: list[float] = []
    with pytest.raises(BudgetExceeded):
        Retrying(Scripted(refuse), Patience(), waits.append).complete(make_request())
    assert waits == []


def test_each_retry_is_noted(endpoint: Any) -> None:
    endpoint.plays(Reply(status=503, body="loading the model"), Reply(status=503), said("4"))
    notes: list[str] = []
    client = ModelClient(Endpoint(base_url=endpoint.url))
    Retrying(client, Patience(tries=4), lambda _seconds: None, notes.append).complete(make_request())
    first, second = notes
    assert re.fullmatch(r"the model's endpoint answers with status 503: loading the model; try 2 of 4 in [12] s", first)
    assert re.search(r"; try 3 of 4 in [23] s$", second)


def test_no_try_begins_after_the_deadline(endpoint: Any) -> None:
    endpoint.plays(Reply(status=503))
    asking = Asking(endpoint.url, first_wait=20)
    with pytest.raises(ModelUnavailable, match="503"):
        asking.model.complete(make_request(deadline=time.monotonic() + 10))
    assert (len(endpoint.asked), asking.waits) == (1, [])
