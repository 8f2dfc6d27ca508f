"""Many answers at once: in one request, or in parallel."""

import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from assay.agents.llm.budget import BudgetLimits, Ledger, Metered
from assay.agents.llm.cassette import Cassette, Mode
from assay.agents.llm.chat import Answer, ChatModel, Request
from assay.agents.llm.client import Endpoint, ModelClient
from assay.agents.llm.draws import Draw, complete_all
from assay.agents.llm.errors import BudgetExceeded, RequestRefused
from assay.agents.llm.scripted import Scripted
from played_endpoint import Reply, make_request, said


def draw(model: ChatModel, count: int, first: int = 0) -> Draw:
    return Draw([make_request(sample=number) for number in range(first, first + count)], model.complete)


def said_by(*texts: str) -> dict[str, Any]:
    """Return a reply with several choices."""
    one = said()
    choices = [{"index": at, "message": {"role": "assistant", "content": text}} for at, text in enumerate(texts)]
    return {**one, "choices": choices}


def texts_of(made: Draw) -> list[str]:
    return [made.answers[at].content for at in sorted(made.answers)]


@pytest.fixture
def client(endpoint: Any) -> Iterator[ModelClient]:
    with ModelClient(Endpoint(base_url=endpoint.url)) as client:
        yield client


def test_endpoint_that_gives_several_is_asked_once(endpoint: Any, client: ModelClient) -> None:
    endpoint.plays(said_by("a", "bcd", "ef"))
    made = draw(client, 3)
    complete_all([made], at_once=8)
    assert texts_of(made) == ["a", "bcd", "ef"]
    assert [asked.body["n"] for asked in endpoint.asked] == [3]
    assert [each.usage.prompt_tokens for each in made.answers.values()] == [100, 0, 0]
    assert [each.usage.completion_tokens for each in made.answers.values()] == [2, 4, 4]


@pytest.mark.parametrize("reply", [said("one"), Reply(status=400, body="n is not supported")])
def test_endpoint_that_gives_one_is_asked_for_the_others_and_never_again_for_several(
    endpoint: Any, client: ModelClient, reply: Any
) -> None:
    endpoint.plays(reply, said("one"))
    for _ in range(2):
        made = draw(client, 3)
        complete_all([made], at_once=2)
        assert texts_of(made) == ["one"] * 3
    assert [asked.body.get("n", 1) for asked in endpoint.asked].count(3) == 1
    assert len(endpoint.asked) == 6 + isinstance(reply, Reply)


def test_other_refusals_are_the_question_s(endpoint: Any, client: ModelClient) -> None:
    endpoint.plays(Reply(status=400, body="bad temperature"))
    made = draw(client, 3)
    complete_all([made], at_once=8)
    assert [type(error) for error in made.failures] == [RequestRefused]


def test_questions_are_open_together() -> None:
    """Each waits for all others, so that none is answered if they are asked one after another."""
    together = threading.Barrier(6)

    def answer(request: Request) -> str:
        if request.wanted == 1:
            together.wait(timeout=60)
        return str(request.sample)

    made = draw(Scripted(answer), 7)
    complete_all([made], at_once=6)
    assert texts_of(made) == list("0123456")


def test_one_at_a_time_stops_at_the_first_failure() -> None:
    asked = draw(Scripted(["a", "b"]), 5)
    complete_all([asked, draw(Scripted([]), 1)], at_once=1)
    assert (texts_of(asked), len(asked.failures)) == (["a", "b"], 1)


@pytest.mark.parametrize("at_once", [1, 4])
def test_budget_with_room_for_some_gives_those(at_once: int) -> None:
    ledger = Ledger(BudgetLimits(calls=3))
    made = draw(Metered(Scripted(lambda _: "x"), ledger), 5)
    complete_all([made], at_once)
    assert len(made.answers) == 3 == ledger.spent.calls
    assert {type(error) for error in made.failures} == {BudgetExceeded}


def test_each_answer_of_one_request_is_a_call_of_the_budget(endpoint: Any, client: ModelClient) -> None:
    endpoint.plays(said_by("a", "b", "c"))
    ledger = Ledger(BudgetLimits(calls=3))
    made = draw(Metered(client, ledger), 3)
    complete_all([made], at_once=3)
    assert (ledger.spent.calls, ledger.spent.tokens, made.failures) == (3, 110, [])


def test_answers_of_one_request_are_recorded_one_by_one(endpoint: Any, client: ModelClient, tmp_path: Any) -> None:
    endpoint.plays(said_by("a", "b"), said_by("c", "d"))
    for count, texts in ((2, "ab"), (4, "abcd")):
        with Cassette(tmp_path / "tape.jsonl", Mode.AUTO, client) as cassette:
            made = draw(cassette, count)
            complete_all([made], at_once=1 if count == 4 else 8)
            assert texts_of(made)[:2] == list(texts[:2])
    assert [asked.body.get("n") for asked in endpoint.asked] == [2, None, None]
    with Cassette(tmp_path / "tape.jsonl", Mode.REPLAY) as cassette:
        again = draw(cassette, 4)
        complete_all([again], at_once=8)
        assert texts_of(again) == texts_of(made)
        assert all(each.replayed for each in again.answers.values())


def test_role_of_its_own_has_recordings_of_its_own(tmp_path: Any) -> None:
    with Cassette(tmp_path / "tape.jsonl", Mode.AUTO, Scripted(["mine", "editor's"])) as cassette:
        answers = [cassette.complete(make_request(role=role)).content for role in ("", "editor", "", "editor")]
    assert answers == ["mine", "editor's", "mine", "editor's"]


@pytest.mark.slow
def test_forty_samples_take_at_most_three_times_as_long_as_one() -> None:
    def answer(_request: Request) -> str:
        time.sleep(4.0)
        return "x"

    took = [_time([draw(Scripted(answer), count) for count in counts]) for counts in ([1], [1, 39], [1, 9] * 4)]
    assert max(took[1:]) <= 3 * took[0]


def _time(draws: Sequence[Draw]) -> float:
    began = time.monotonic()
    complete_all(draws, at_once=40)
    answers: list[Answer] = [answer for each in draws for answer in each.answers.values()]
    assert len(answers) == sum(len(each.requests) for each in draws)
    return time.monotonic() - began
