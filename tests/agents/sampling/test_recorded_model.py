"""The model that a solver gets: settings, samples, trajectory and usage."""

from pathlib import Path

import pytest

from assay.agents.contract import AskOptions, Inquiry
from assay.agents.llm.cassette import Cassette, Mode
from assay.agents.llm.chat import Answer, Message, Request, Speaker, TokenUsage, ToolCall
from assay.agents.llm.errors import ModelUnavailable
from assay.agents.sampling.recorded_model import STRIDE, ModelDefaults, RecordedModel
from assay.agents.trajectory import AgentInfo, Trajectory, TrajectoryRecorder

SYSTEM = Message(role=Speaker.SYSTEM, content="Be brief.")
QUESTION = Message(role=Speaker.USER, content="Why?")


class CountingModel:
    """A model that keeps what it was asked and answers with a number."""

    def __init__(self, **of_answers: object) -> None:
        self.requests: list[Request] = []
        self._fields = of_answers

    def complete(self, request: Request) -> Answer:
        self.requests.append(request)
        usage = TokenUsage(prompt_tokens=10, cached_tokens=4, completion_tokens=2, cost=0.5)
        return Answer.model_validate(
            {"content": str(len(self.requests)), "usage": usage, "seconds": 2.0} | self._fields
        )


def talk(
    model: object, *, sample: int = 0, path: Path | None = None, **defaults: object
) -> tuple[RecordedModel, TrajectoryRecorder]:
    recorder = TrajectoryRecorder(path, AgentInfo(name="a", version="1"))
    chosen = ModelDefaults.model_validate({"model": "tiny"} | defaults)
    return RecordedModel(model, recorder, chosen, sample=sample), recorder  # type: ignore[arg-type]


def draw(partner: RecordedModel, count: int) -> list[Answer]:
    return [answer for _, answer in partner.ask_all([Inquiry([QUESTION], count=count)])]


def test_defaults_fill_what_a_request_leaves_open() -> None:
    model = CountingModel()
    partner, _ = talk(model, temperature=0.3, max_tokens=7, seed=5)
    partner.ask([QUESTION])
    partner.ask([QUESTION], AskOptions(temperature=0.0, max_tokens=9, stop=("x",), extra={"grammar": "g"}))
    first, second = model.requests
    assert (first.model, first.temperature, first.max_tokens, first.seed, first.stop) == ("tiny", 0.3, 7, 5, ())
    assert (second.temperature, second.max_tokens, second.seed, second.stop) == (0.0, 9, 5, ("x",))
    assert second.extra == {"grammar": "g"}


def test_equal_request_gets_the_next_sample_number() -> None:
    model = CountingModel()
    partner, _ = talk(model)
    answers = [partner.ask([QUESTION]), *draw(partner, 3), partner.ask([SYSTEM, QUESTION])]
    assert [request.sample for request in model.requests] == [0, 1, 2, 3, 0]
    assert [answer.content for answer in answers] == ["1", "2", "3", "4", "5"]
    assert draw(partner, 0) == []


def test_samples_of_an_instance_do_not_share_answers(tmp_path: Path) -> None:
    model = CountingModel()
    with Cassette(tmp_path / "llm.jsonl", Mode.AUTO, model) as recorded:
        for sample in (0, 1, 0, 1):
            partner, _ = talk(recorded, sample=sample)
            partner.ask([QUESTION])
    assert [request.sample for request in model.requests] == [0, STRIDE]


def test_every_answer_is_a_step_and_a_prompt_is_recorded_once(tmp_path: Path) -> None:
    file = tmp_path / "trajectory.json"
    call = ToolCall(id="c1", name="bash", arguments='{"command": "ls"}')
    partner, recorder = talk(CountingModel(tool_calls=(call,), reasoning="thinking"), path=file)
    answer = partner.ask([SYSTEM, QUESTION], purpose="look")
    observed = Message(role=Speaker.USER, content="a file")
    partner.ask([SYSTEM, QUESTION, answer.make_message(), observed], purpose="look")
    steps = Trajectory.model_validate_json(file.read_bytes()).steps
    assert [(step.source, step.message) for step in steps] == [
        ("system", "Be brief."),
        ("user", "Why?"),
        ("agent", "1"),
        ("agent", "2"),
    ]
    first = steps[2]
    assert (first.model_name, first.reasoning_content, first.llm_call_count) == ("tiny", "thinking", 1)
    assert first.metrics is not None
    assert (first.metrics.prompt_tokens, first.metrics.completion_tokens, first.metrics.cost_usd) == (10, 2, 0.5)
    assert first.extra == {
        "purpose": "look",
        "asked_for": [{"id": "c1", "name": "bash", "arguments": '{"command": "ls"}'}],
    }
    assert recorder.trajectory() is not None


def test_usage_counts_replayed_answers_but_not_as_paid(tmp_path: Path) -> None:
    for paid in (1.0, 0.0):
        with Cassette(tmp_path / "llm.jsonl", Mode.AUTO, CountingModel()) as recorded:
            partner, _ = talk(recorded)
            draw(partner, 2)
            usage = partner.usage
        assert (usage.calls, usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens) == (2, 20, 8, 4)
        assert (usage.cost, usage.paid) == (1.0, paid)
        assert usage.model_seconds == (4.0 if paid else 0.0)


def test_unknown_price_makes_the_total_unknown() -> None:
    partner, _ = talk(CountingModel(usage=TokenUsage(prompt_tokens=1, cost=None)))
    partner.ask([QUESTION])
    assert (partner.usage.cost, partner.usage.paid) == (None, None)


def test_failed_call_is_billed_and_frees_its_sample_number() -> None:
    class Failing(CountingModel):
        def complete(self, request: Request) -> Answer:
            answer = super().complete(request)
            if len(self.requests) == 1:
                raise ModelUnavailable("busy", spent=TokenUsage(prompt_tokens=3, cost=0.25))
            return answer

    model = Failing()
    partner, recorder = talk(model)
    with pytest.raises(ModelUnavailable):
        partner.ask([QUESTION])
    assert (partner.usage.calls, partner.usage.cost) == (1, 0.25)
    partner.ask([QUESTION])
    assert [request.sample for request in model.requests] == [0, 0]
    written = recorder.trajectory()
    assert written is not None
    assert [step.source for step in written.steps] == ["user", "agent"]
