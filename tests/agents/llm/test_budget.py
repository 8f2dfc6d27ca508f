import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.llm.budget import BudgetLimits, Ledger, Metered, Spent
from assay.agents.llm.chat import Answer, Request, TokenUsage
from assay.agents.llm.client import Endpoint, ModelClient
from assay.agents.llm.errors import BadAnswer, BudgetExceeded, ModelUnavailable
from assay.agents.llm.prices import Price, Prices
from assay.agents.llm.retry import Patience, Retrying
from assay.agents.llm.scripted import Scripted
from played_endpoint import Reply, make_request

PRICES = Prices(models={"toy": Price(input=1.0, output=1.0)})


def answer(tokens: int = 100, cost: float | None = 0.5, **changes: Any) -> Answer:
    return Answer(content="x", usage=TokenUsage(prompt_tokens=tokens, cost=cost), **changes)


def metered(limits: BudgetLimits, model: Any, **settings: Any) -> tuple[Metered, Ledger]:
    ledger = Ledger(limits, **settings)
    return Metered(model, ledger, PRICES), ledger


@pytest.mark.parametrize(
    ("limits", "name", "calls"),
    [
        (BudgetLimits(calls=3), "calls", 3),
        (BudgetLimits(tokens=250), "tokens", 2),
        (BudgetLimits(cost=1.2), "cost", 3),
        (BudgetLimits(cost=1.0), "cost", 2),
        (BudgetLimits(calls=0), "calls", 0),
        (BudgetLimits(calls=9, tokens=150), "tokens", 1),
    ],
)
def test_call_beyond_a_limit_is_not_made(limits: BudgetLimits, name: str, calls: int) -> None:
    made = []

    def play(request: Request) -> Answer:
        made.append(request)
        return answer()

    model, ledger = metered(limits, Scripted(play))
    with pytest.raises(BudgetExceeded, match="leaves no room") as caught:
        list(map(model.complete, [make_request("x" * 400)] * 10))
    assert caught.value.limit == name
    assert len(made) == calls == ledger.spent.calls


def test_longest_answer_must_fit_the_token_limit() -> None:
    model, ledger = metered(BudgetLimits(tokens=1000), Scripted(lambda _: answer(tokens=10)))
    with pytest.raises(BudgetExceeded):
        model.complete(make_request(max_tokens=1000))
    model.complete(make_request(max_tokens=900))
    assert ledger.spent.tokens == 10, "what was set aside and not used is given back"


def test_longest_answer_must_fit_the_cost_limit() -> None:
    model, _ = metered(BudgetLimits(cost=0.5), Scripted(lambda _: answer()))
    with pytest.raises(BudgetExceeded) as caught:
        model.complete(make_request(max_tokens=500_000))
    assert caught.value.limit == "cost"


def test_limit_in_seconds_counts_wall_clock_time() -> None:
    now = [100.0]
    model, _ = metered(BudgetLimits(seconds=60), Scripted(lambda _: answer()), clock=lambda: now[0])
    now[0] = 159.0
    model.complete(make_request())
    now[0] = 160.0
    with pytest.raises(BudgetExceeded) as caught:
        model.complete(make_request())
    assert caught.value.limit == "seconds"


def test_unpriced_calls_are_counted_and_limited_by_tokens() -> None:
    model, ledger = metered(BudgetLimits(cost=0.01, tokens=350), Scripted(lambda _: answer(cost=None)))
    for _ in range(3):
        model.complete(make_request(model="nobody-knows"))
    assert ledger.spent == Spent(calls=3, tokens=300, cost=0.0, unpriced_calls=3)
    with pytest.raises(BudgetExceeded) as caught:
        model.complete(make_request("x" * 400, model="nobody-knows"))
    assert caught.value.limit == "tokens"


def test_failed_calls_and_failed_tries_are_billed() -> None:
    def fail(_: Request) -> Answer:
        raise BadAnswer("no json", spent=TokenUsage(prompt_tokens=30, cost=0.25))

    model, ledger = metered(BudgetLimits(), Scripted(fail))
    with pytest.raises(BadAnswer):
        model.complete(make_request())
    assert ledger.spent == Spent(calls=1, tokens=30, cost=0.25)

    wasted = TokenUsage(prompt_tokens=7, cost=0.125)
    Metered(Scripted([answer(wasted=wasted)]), ledger).complete(make_request())
    assert ledger.spent == Spent(calls=2, tokens=137, cost=0.875)


def test_other_exceptions_cost_nothing() -> None:
    def stop(_: Request) -> Answer:
        raise KeyboardInterrupt

    model, ledger = metered(BudgetLimits(calls=1), Scripted(stop))
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            model.complete(make_request())
    assert ledger.spent == Spent()


def test_call_refused_by_an_inner_budget_is_charged_nowhere() -> None:
    run, one, other = Ledger(BudgetLimits(calls=3)), Ledger(BudgetLimits(calls=2)), Ledger(BudgetLimits(calls=2))
    shared = Metered(Scripted(lambda _: answer()), run)
    for ledger in (one, one, other):
        Metered(shared, ledger).complete(make_request())
    with pytest.raises(BudgetExceeded):
        Metered(shared, other).complete(make_request())
    assert (run.spent.calls, one.spent.calls, other.spent.calls) == (3, 2, 1), "the refused call counts nowhere"


def test_ledger_resumes_from_earlier_spending() -> None:
    model, _ = metered(BudgetLimits(calls=5), Scripted(lambda _: answer()), spent=Spent(calls=4))
    model.complete(make_request())
    with pytest.raises(BudgetExceeded):
        model.complete(make_request())


def test_call_waits_for_one_under_way_that_may_leave_room() -> None:
    started, go = threading.Event(), threading.Event()

    def play(_: Request) -> Answer:
        started.set()
        go.wait(5)
        return answer(tokens=10)

    model, ledger = metered(BudgetLimits(tokens=1000), Scripted(play))
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(model.complete, make_request(max_tokens=900))
        started.wait(5)
        second = pool.submit(model.complete, make_request(max_tokens=900))
        time.sleep(0.05)
        assert not second.done()
        go.set()
        assert first.result(5).content == second.result(5).content == "x"
    assert ledger.spent.tokens == 20


@given(st.lists(st.integers(1, 300), min_size=1, max_size=40), st.integers(1, 2000))
def test_concurrent_calls_never_exceed_the_limit(sizes: list[int], limit: int) -> None:
    """Holds whenever an answer is no longer than the request allows."""

    def play(request: Request) -> Answer:
        return Answer(usage=TokenUsage(completion_tokens=request.max_tokens or 0))

    ledger = Ledger(BudgetLimits(tokens=limit))
    model = Metered(Scripted(play), ledger)

    def ask(size: int) -> bool:
        request = Request.model_validate({"model": "m", "messages": [{"role": "user"}], "max_tokens": size})
        try:
            model.complete(request)
        except BudgetExceeded:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(ask, sizes))
    assert ledger.spent.tokens == sum(size for size, done in zip(sizes, made, strict=True) if done) <= limit


def test_pending_call_ends_when_the_time_is_up(endpoint: Any) -> None:
    endpoint.plays(Reply(delay=3.0))
    ledger = Ledger(BudgetLimits(seconds=0.3))
    with ModelClient(Endpoint(base_url=endpoint.url)) as client, pytest.raises(BudgetExceeded) as caught:
        Metered(client, ledger).complete(make_request("x" * 400))
    assert ledger.seconds < 2.5
    assert caught.value.limit == "seconds"
    assert str(caught.value) == "the budget of 0.3 seconds ended before the model answered"
    assert ledger.spent.tokens > 100, "the question may be billed"


def test_nearest_deadline_counts() -> None:
    seen: list[float | None] = []

    def note(request: Any) -> str:
        seen.append(request.deadline)
        return "ok"

    inner = Metered(Scripted(note), Ledger(BudgetLimits(seconds=1000)))
    Metered(inner, Ledger(BudgetLimits(seconds=10))).complete(make_request())
    Metered(inner, Ledger(BudgetLimits(calls=10))).complete(make_request())
    near, far = (each - time.monotonic() for each in seen if each is not None)
    assert near <= 10 < far <= 1000


def test_endpoint_that_fails_within_the_time_is_no_limit(endpoint: Any) -> None:
    endpoint.plays(Reply(status=503))
    with ModelClient(Endpoint(base_url=endpoint.url)) as client, pytest.raises(ModelUnavailable):
        Metered(Retrying(client, Patience(first_wait=100)), Ledger(BudgetLimits(seconds=60))).complete(make_request())


@pytest.mark.parametrize("sizes", [(2, 2, 2, 2), (3, 3, 2), (8,), (1, 0, 7), (1,) * 8])
@pytest.mark.parametrize("calls", [0, 1, 7, 13, 800])
def test_shares_of_a_budget_add_up_to_it(sizes: tuple[int, ...], calls: int) -> None:
    limits, before, shares = BudgetLimits(calls=calls, tokens=10 * calls + 3, cost=5.0), 0, []
    for size in sizes:
        shares.append(limits.share(before, before + size, 8))
        before += size
    assert sum(each.calls or 0 for each in shares) == calls
    assert sum(each.tokens or 0 for each in shares) == 10 * calls + 3
    assert sum(each.cost or 0.0 for each in shares) == pytest.approx(5.0)
    assert BudgetLimits().share(0, 2, 8) == BudgetLimits()
