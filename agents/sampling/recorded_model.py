"""The model that a solver gets: under the run's settings, limited and counted, every answer in the trajectory."""

import json
import threading
from collections.abc import Sequence
from typing import Literal

from pydantic import JsonValue

from assay.agents.contract import NO_OPTIONS, AskOptions, SampleUsage
from assay.agents.llm.budget import BudgetLimits, Ledger, Metered
from assay.agents.llm.chat import Answer, ChatModel, Message, Part, Request, Speaker
from assay.agents.llm.errors import ModelError
from assay.agents.llm.prices import Prices
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
    """The ``SolverModel`` of one sample of one instance; thread-safe."""

    def __init__(
        self,
        model: ChatModel,
        recorder: TrajectoryRecorder,
        defaults: ModelDefaults,
        ledger: Ledger | None = None,
        prices: Prices | None = None,
        *,
        sample: int = 0,
    ) -> None:
        """The same request of another ``sample`` of the instance gets another answer.

        ``ledger`` limits the sample's calls, replayed ones too; ``prices`` decide how much room is reserved for a call.
        """
        self._model = Metered(model, ledger or Ledger(BudgetLimits()), prices)
        self._recorder = recorder
        self._defaults = defaults
        self._samples = Samples(first=sample * STRIDE)
        self._seen: set[tuple[str, str]] = set()
        self._usage = SampleUsage()
        self._lock = threading.Lock()

    @property
    def usage(self) -> SampleUsage:
        """Tokens, cost and model seconds so far; command and total seconds are 0."""
        with self._lock:
            return self._usage

    def ask(self, messages: Sequence[Message], how: AskOptions = NO_OPTIONS, *, purpose: str = "") -> Answer:
        """Ask, and count the call even if it fails; the same request again is another sample of it."""
        self._note_prompt(messages, purpose)
        with self._samples.next(self._request(messages, how)) as (request,):
            try:
                answer = self._model.complete(request)
            except ModelError as error:
                self._count(Answer(usage=error.spent))
                raise
            self._count(answer)
            self._recorder.add(_step(answer, request, purpose))
        return answer

    def samples(
        self, messages: Sequence[Message], count: int, how: AskOptions = NO_OPTIONS, *, purpose: str = ""
    ) -> list[Answer]:
        """Answers before a failure are in the trajectory and the cassette, but not returned."""
        return [self.ask(messages, how, purpose=purpose) for _ in range(count)]

    def _request(self, messages: Sequence[Message], how: AskOptions) -> Request:
        usual = self._defaults
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
            if message.role in {Speaker.ASSISTANT, Speaker.TOOL}:
                break
            text = _text(message.content)
            with self._lock:
                is_new = (message.role, text) not in self._seen
                self._seen.add((message.role, text))
            if is_new:
                source: Literal["user", "system"] = "user" if message.role is Speaker.USER else "system"
                self._recorder.add(Step(source=source, message=text, extra={"purpose": purpose} if purpose else None))

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
