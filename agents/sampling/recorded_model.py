"""The model that a solver gets: the run's settings applied, usage counted, every answer in the trajectory."""

import json
import threading
from collections.abc import Sequence

from pydantic import JsonValue

from assay.agents.contract import NO_OPTIONS, AskOptions, SampleUsage
from assay.agents.llm.chat import Answer, ChatModel, Message, Part, Request, Role
from assay.agents.llm.errors import ModelError
from assay.agents.llm.samples import Samples
from assay.agents.trajectory import Metrics, Step, TrajectoryRecorder
from assay.harness.domain import Model

STRIDE = 100_000
"""Sample numbers per request reserved for one sample of an instance; the next sample's numbers start after them."""


class ModelDefaults(Model):
    """The run's options for every request; a request's own ``AskOptions`` win."""

    model: str
    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None


class RecordedModel:
    """The ``SolverModel`` of one sample of one instance; thread-safe.

    Attributes:
        defaults: the run's settings.
        model: the counted model, for callers that build requests themselves, such as the proxy.
    """

    def __init__(
        self, model: ChatModel, recorder: TrajectoryRecorder, defaults: ModelDefaults, *, sample: int = 0
    ) -> None:
        """Wrap a model that already has its budget and cassette.

        Args:
            model: answers the requests.
            recorder: gets a step for every answer.
            defaults: the run's settings.
            sample: number of the sample; the same request of another sample gets another answer.
        """
        self.defaults = defaults
        self.model = CountedModel(model, sample)
        self._recorder = recorder
        self._samples = Samples()
        self._seen: set[tuple[str, str]] = set()
        self._lock = threading.Lock()

    @property
    def usage(self) -> SampleUsage:
        """Tokens, cost and model seconds so far; command and total seconds are 0."""
        return self.model.usage

    def ask(self, messages: Sequence[Message], how: AskOptions = NO_OPTIONS, *, purpose: str = "") -> Answer:
        """Return the answer to a request; the same request again is another sample of it.

        Raises:
            ModelError: there is no answer.
            BudgetExceeded: a limit leaves no room for the call.
        """
        return self.samples(messages, 1, how, purpose=purpose)[0]

    def samples(
        self, messages: Sequence[Message], count: int, how: AskOptions = NO_OPTIONS, *, purpose: str = ""
    ) -> list[Answer]:
        """Return ``count`` answers to the same request, asked one after another; raises as ``ask``.

        Answers before a failure are in the trajectory and the cassette, but not returned.
        """
        if count < 1:
            return []
        self._note_prompt(messages, purpose)
        answers = []
        with self._samples.next(self._request(messages, how), count) as requests:
            for request in requests:
                answer = self.model.complete(request)
                self._recorder.add(_step(answer, request, purpose))
                answers.append(answer)
        return answers

    def _request(self, messages: Sequence[Message], how: AskOptions) -> Request:
        usual = self.defaults
        return Request(
            model=usual.model,
            messages=tuple(messages),
            tools=how.tools,
            temperature=usual.temperature if how.temperature is None else how.temperature,
            max_tokens=usual.max_tokens if how.max_tokens is None else how.max_tokens,
            stop=how.stop,
            seed=usual.seed,
            response_format=how.response_format,
            extra=how.extra,
        )

    def _note_prompt(self, messages: Sequence[Message], purpose: str) -> None:
        """Record the messages before the first answer, each once; later messages are in earlier steps."""
        for message in messages:
            if message.role in {Role.ASSISTANT, Role.TOOL}:
                break
            text = _text(message.content)
            with self._lock:
                is_new = (message.role, text) not in self._seen
                self._seen.add((message.role, text))
            if is_new:
                self._recorder.add(_opening(message.role, text, purpose))


class CountedModel:
    """A model that counts the usage of another one and gives requests the sample numbers of one sample."""

    def __init__(self, model: ChatModel, sample: int = 0) -> None:
        self._model = model
        self._first = sample * STRIDE
        self._usage = SampleUsage()
        self._lock = threading.Lock()

    @property
    def usage(self) -> SampleUsage:
        """Usage so far."""
        with self._lock:
            return self._usage

    def complete(self, request: Request) -> Answer:
        """Return the answer; counts failed calls too. Raises ModelError and BudgetExceeded."""
        numbered = request.model_copy(update={"sample": self._first + request.sample})
        try:
            answer = self._model.complete(numbered)
        except ModelError as error:
            self._count(Answer(usage=error.spent))
            raise
        self._count(answer)
        return answer

    def _count(self, answer: Answer) -> None:
        took = answer.usage + answer.wasted
        with self._lock:
            before = self._usage
            self._usage = before.model_copy(
                update={
                    "calls": before.calls + 1,
                    "prompt_tokens": before.prompt_tokens + took.prompt_tokens,
                    "cached_tokens": before.cached_tokens + took.cached_tokens,
                    "completion_tokens": before.completion_tokens + took.completion_tokens,
                    "cost": _sum(before.cost, took.cost),
                    "paid": before.paid if answer.replayed else _sum(before.paid, took.cost),
                    "model_seconds": before.model_seconds + (0.0 if answer.replayed else answer.seconds),
                }
            )


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


def _opening(role: Role, text: str, purpose: str) -> Step:
    extra: dict[str, JsonValue] | None = {"purpose": purpose} if purpose else None
    return Step(source="user" if role is Role.USER else "system", message=text, extra=extra)


def _step(answer: Answer, request: Request, purpose: str) -> Step:
    """Return an answer as a step. Tool calls in it are only requests: the solver records what it runs."""
    extra: dict[str, JsonValue] = {"purpose": purpose} if purpose else {}
    if answer.tool_calls:
        extra["asked_for"] = [
            {"id": call.id, "name": call.name, "arguments": call.arguments} for call in answer.tool_calls
        ]
    if request.sample % STRIDE:
        extra["sample"] = request.sample % STRIDE
    if answer.replayed:
        extra["replayed"] = True
    return Step(
        source="agent",
        model_name=answer.model or request.model,
        message=answer.content,
        reasoning_content=answer.reasoning or None,
        metrics=_metrics(answer),
        llm_call_count=1,
        extra=extra or None,
    )


def _metrics(answer: Answer) -> Metrics:
    took = answer.usage + answer.wasted
    return Metrics(
        prompt_tokens=took.prompt_tokens,
        completion_tokens=took.completion_tokens,
        cached_tokens=took.cached_tokens,
        cost_usd=took.cost,
        extra={"seconds": round(answer.seconds, 3), "tries": answer.tries, "finish": answer.finish.value},
    )


def _text(content: str | tuple[Part, ...]) -> str:
    """Return a message's text; parts that are not text (pictures) become JSON, cut short."""
    if isinstance(content, str):
        return content
    return "\n".join(_part(part) for part in content)


def _part(part: Part) -> str:
    fields = part.model_dump()
    text = fields.get("text")
    return text if isinstance(text, str) else json.dumps(fields)[:200]
