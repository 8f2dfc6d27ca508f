"""Requests to a chat model, its answers, and the protocol of everything that answers.

Names follow the OpenAI chat completions API; ``openai_chat`` has its JSON.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

from pydantic import BaseModel, Field, JsonValue

from assay.harness.domain import Model


class Speaker(StrEnum):
    SYSTEM = "system"
    DEVELOPER = "developer"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Part(BaseModel, frozen=True, extra="allow"):
    """One part of a message with images or files; all fields but the type are passed on unchanged."""

    type: str


class ToolCall(Model):
    """A model's request to run a tool."""

    id: str
    name: str
    arguments: str
    """The model's own text: usually a JSON object, not always a valid one."""


class Message(Model):
    role: Speaker
    content: str | tuple[Part, ...] = ""
    tool_calls: tuple[ToolCall, ...] = ()
    """Only a message of the assistant has any."""
    tool_call_id: str = ""
    """The call that a message of a tool answers."""
    name: str = ""
    reasoning: str = ""
    """Reasoning of the model; some endpoints want it back with the conversation."""
    extra: Mapping[str, JsonValue] = Field(default_factory=dict)


class Tool(Model):
    """A function that the model may call."""

    name: str
    description: str = ""
    parameters: Mapping[str, JsonValue] = Field(default_factory=dict)
    """JSON Schema of its arguments."""
    strict: bool | None = None


class ResponseFormat(BaseModel, frozen=True, extra="allow"):
    """Required format of an answer; for the type ``json_schema`` the schema is in the extra field of that name."""

    type: str


JSON_MODE = ResponseFormat(type="json_object")
"""The answer is a JSON object; the prompt must ask for one as well."""


class Request(Model):
    """One question to a model; requests with equal fields are the same question."""

    model: str = Field(min_length=1)
    messages: tuple[Message, ...] = Field(min_length=1)
    tools: tuple[Tool, ...] = ()
    tool_choice: str | Mapping[str, JsonValue] | None = None
    """``auto``, ``none``, ``required``, or an object that names one function."""
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = Field(default=None, gt=0)
    """Limit on the answer; without it a budget reserves nothing for the answer."""
    stop: tuple[str, ...] = ()
    seed: int | None = None
    response_format: ResponseFormat | None = None
    sample: int = Field(default=0, ge=0)
    """Number among several answers to the same question. Never sent; recordings keep the answers apart by it."""
    wanted: int = Field(default=1, gt=0, exclude=True)
    """Answers that are wanted at once, numbered from ``sample`` on; whoever answers may give fewer, never none."""
    role: str = ""
    """Role of a solver whose own model is asked; empty for the run's model. Never sent; recordings keep roles apart."""
    deadline: float | None = Field(default=None, exclude=True)
    """``time.monotonic()`` at which whoever asks stops waiting; neither sent nor recorded."""
    extra: Mapping[str, JsonValue] = Field(default_factory=dict)
    """Further parameters of the endpoint, such as ``reasoning_effort``."""


class TokenUsage(Model):
    """Tokens used, and their cost; the default is no tokens at no cost."""

    prompt_tokens: int = Field(default=0, ge=0)
    cached_tokens: int = Field(default=0, ge=0)
    """Part of ``prompt_tokens`` that the endpoint had in its cache."""
    completion_tokens: int = Field(default=0, ge=0)
    """Reasoning included."""
    cost: float | None = Field(default=0.0, ge=0)
    """US dollars; None if the price is unknown."""
    estimated: bool = False
    """Whether the counts are estimated from text lengths because the endpoint reported none."""

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: "TokenUsage") -> "TokenUsage":
        """Return the sum; its cost is unknown if either cost is."""
        known = self.cost is not None and other.cost is not None
        return TokenUsage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cost=(self.cost or 0.0) + (other.cost or 0.0) if known else None,
            estimated=self.estimated or other.estimated,
        )


class Finish(StrEnum):
    STOP = "stop"
    LENGTH = "length"
    TOOL_CALLS = "tool_calls"
    FILTERED = "content_filter"
    OTHER = "other"


class Answer(Model):
    """A model's answer, its usage and its duration."""

    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    finish: Finish = Finish.STOP
    model: str = ""
    """Name that the endpoint gives; may be more precise than the requested one."""
    usage: TokenUsage = Field(default_factory=TokenUsage)
    """Usage of this answer alone."""
    wasted: TokenUsage = Field(default_factory=TokenUsage)
    """Usage of the failed tries before it, which are billed as well."""
    tries: int = Field(default=1, ge=1)
    seconds: float = Field(default=0.0, ge=0)
    """Time from request to answer, waits between tries included."""
    replayed: bool = False
    """Whether it comes from a recording, at no cost."""

    others: tuple["Answer", ...] = Field(default=(), exclude=True)
    """Further answers to a request that wanted several, in the order of their sample numbers."""

    @property
    def answers(self) -> tuple["Answer", ...]:
        return self.model_copy(update={"others": ()}), *self.others

    @property
    def full_text(self) -> str:
        """All that the model wrote: text, reasoning and the arguments of calls."""
        return "".join((self.content, self.reasoning, *(call.arguments for call in self.tool_calls)))

    @property
    def spent(self) -> TokenUsage:
        """Usage of the answer, the others, and the failed tries before them."""
        return sum((each.usage + each.wasted for each in self.others), self.usage + self.wasted)

    def make_message(self) -> Message:
        return Message(
            role=Speaker.ASSISTANT, content=self.content, tool_calls=self.tool_calls, reasoning=self.reasoning
        )


class ChatModel(Protocol):
    """Anything that answers requests: the client of an endpoint, and wrappers around another ChatModel."""

    def complete(self, request: Request) -> Answer:
        """Answer one request, with at least one answer of those wanted; safe to call from several threads.

        Raises:
            ModelError: the model gave no answer; ``is_transient`` says whether to retry.
            BudgetExceeded: a limit leaves no room for the call.
            CassetteMiss: a recording is replayed and lacks this request.
        """
        ...
