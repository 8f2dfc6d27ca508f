"""How a solver asks its model: with the run's settings, metered, and written into the trajectory."""

import json
import threading
from collections.abc import Sequence

from pydantic import JsonValue

from assay.agents.contract import USUAL, Asking, Usage
from assay.agents.llm.chat import Answer, ChatModel, Message, Part, Request, Role
from assay.agents.llm.errors import ModelError
from assay.agents.llm.samples import Samples
from assay.agents.trajectory import Metrics, Recorder, Step
from assay.harness.domain import Model

STRIDE = 100_000
"""Samples of one question that one sample of an instance may ask for; the next sample's numbers begin behind them."""


class Defaults(Model):
    """What a run says of every question; a question's own ``Asking`` wins."""

    model: str
    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None


class ModelTalk:
    """A conversation partner for one sample of one instance; safe to use from several threads.

    Attributes:
        defaults: the run's settings.
        model: whom it asks, counting what that takes; for who speaks to a model in another way, such as the proxy.
    """

    def __init__(self, model: ChatModel, recorder: Recorder, defaults: Defaults, *, sample: int = 0) -> None:
        """Take the model with its budget and recording around it.

        Args:
            model: whom to ask.
            recorder: gets a step for every answer.
            defaults: the run's settings.
            sample: which sample of the instance this is; the same questions of another one get other answers.
        """
        self.defaults = defaults
        self.model = Counted(model, sample)
        self._recorder = recorder
        self._samples = Samples()
        self._told: set[tuple[str, str]] = set()
        self._lock = threading.Lock()

    @property
    def usage(self) -> Usage:
        """What has been used so far; nothing of commands and of the whole time."""
        return self.model.usage

    def ask(self, messages: Sequence[Message], how: Asking = USUAL, *, purpose: str = "") -> Answer:
        """Ask once; the same question again is another sample of it.

        Raises:
            ModelError: there is no answer. BudgetExceeded: a limit leaves no room for the call.
        """
        return self.samples(messages, 1, how, purpose=purpose)[0]

    def samples(
        self, messages: Sequence[Message], count: int, how: Asking = USUAL, *, purpose: str = ""
    ) -> list[Answer]:
        """Ask the same question several times, one after another; raises as ``ask``.

        Answers that came before a failure are in the trajectory and on record, but not returned.
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

    def _request(self, messages: Sequence[Message], how: Asking) -> Request:
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
        """Write down how a conversation opens, once; what follows its first answer is in the steps before."""
        for message in messages:
            if message.role in {Role.ASSISTANT, Role.TOOL}:
                break
            text = _text(message.content)
            with self._lock:
                is_new = (message.role, text) not in self._told
                self._told.add((message.role, text))
            if is_new:
                self._recorder.add(_opening(message.role, text, purpose))


class Counted:
    """A model around a model that counts what it takes, and numbers the samples of one sample of an instance."""

    def __init__(self, model: ChatModel, sample: int = 0) -> None:
        self._model = model
        self._first = sample * STRIDE
        self._usage = Usage()
        self._lock = threading.Lock()

    @property
    def usage(self) -> Usage:
        """What has been used so far."""
        with self._lock:
            return self._usage

    def complete(self, request: Request) -> Answer:
        """Ask; raises ModelError and BudgetExceeded, and counts what a failed call has cost."""
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
    """Return an answer as a step; what is done with it is told by the solver, in steps of its own."""
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
    """Return a message's text; parts that are not text stand as JSON, cut short, since pictures are long."""
    if isinstance(content, str):
        return content
    return "\n".join(_part(part) for part in content)


def _part(part: Part) -> str:
    fields = part.model_dump()
    text = fields.get("text")
    return text if isinstance(text, str) else json.dumps(fields)[:200]
