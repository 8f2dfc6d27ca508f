"""A model that workers ask through the process of their run, by a connection of their own."""

import pickle
import time
from dataclasses import replace

import pytest

from assay.agents.llm.chat import Answer, Request
from assay.agents.llm.distant import DistantModel, ModelDoor
from assay.agents.llm.errors import ContextTooLong, ModelUnavailable, RunBudgetExceeded
from assay.agents.llm.scripted import Scripted
from assay.harness.errors import AssayError, RunStopped
from played_endpoint import make_request


def send(model: DistantModel) -> DistantModel:
    """Return a model as it arrives at a worker."""
    sent: DistantModel = pickle.loads(pickle.dumps(model))
    return sent


def test_an_answer_is_that_of_the_model() -> None:
    asked: list[Request] = []
    with ModelDoor(Scripted(lambda request: asked.append(request) or "four"), "127.0.0.1") as door:
        assert send(door.model).complete(make_request()).content == "four"
    assert asked == [make_request()]


def test_a_deadline_is_the_time_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two machines count their seconds from different starts."""
    left: list[float] = []

    class Clock:
        def complete(self, request: Request) -> Answer:
            left.append((request.deadline or 0.0) - real())
            return Answer()

    real = time.monotonic
    with ModelDoor(Clock(), "127.0.0.1") as door:
        request = make_request().model_copy(update={"deadline": real() + 1_000_000 + 50})
        first = iter([real() + 1_000_000])
        monkeypatch.setattr("assay.agents.llm.distant.time.monotonic", lambda: next(first, None) or real())
        door.model.complete(request)
    assert 45 < left[0] <= 50


@pytest.mark.parametrize(
    "error",
    [
        RunBudgetExceeded("no room", limit="calls"),
        ContextTooLong("too long", status=400),
        ModelUnavailable("busy", status=503, retry_after=2.0),
        RunStopped("stopped"),
    ],
)
def test_an_error_is_that_of_the_model(error: AssayError) -> None:
    class Failing:
        def complete(self, _request: Request) -> Answer:
            raise error

    with ModelDoor(Failing(), "127.0.0.1") as door, pytest.raises(type(error)) as raised:
        send(door.model).complete(make_request())
    assert (str(raised.value), vars(raised.value)) == (str(error), vars(error))


def test_nobody_without_the_secret_is_answered() -> None:
    asked: list[Request] = []
    with ModelDoor(Scripted(lambda request: asked.append(request) or "four"), "127.0.0.1") as door:
        with pytest.raises(ModelUnavailable, match="does not answer"):
            replace(door.model, secret=b"guessed").complete(make_request())
        assert door.model.complete(make_request()).content == "four"
    assert len(asked) == 1


def test_a_run_that_has_ended_is_no_answer() -> None:
    with ModelDoor(Scripted(lambda _request: "four"), "127.0.0.1") as door:
        pass
    with pytest.raises(ModelUnavailable, match="the driver of the run does not answer"):
        door.model.complete(make_request())
