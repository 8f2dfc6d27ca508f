"""What is said to a chat model and what it says: the nouns of the layer, and its one verb.

The words are those of the OpenAI-compatible interface, which all servers of models speak; ``wire`` holds its spelling.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from assay.harness.domain import Model


class Role(StrEnum):
    """Who speaks."""

    SYSTEM = "system"
    DEVELOPER = "developer"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Part(BaseModel):
    """One part of a message that is more than text; its fields beyond the type pass through untouched."""

    model_config = ConfigDict(frozen=True, extra="allow")

    type: str


class ToolCall(Model):
    """A model's wish to have a tool run."""

    id: str
    name: str
    arguments: str
    """As the model wrote them: usually a JSON object, and not always a valid one."""


class Message(Model):
    """One message of a conversation."""

    role: Role
    content: str | tuple[Part, ...] = ""
    tool_calls: tuple[ToolCall, ...] = ()
    """Of the assistant."""
    tool_call_id: str = ""
    """Call that a tool's message answers."""
    name: str = ""
    reasoning: str = ""
    """What a reasoning model thought; some want it back."""
    extra: Mapping[str, JsonValue] = Field(default_factory=dict)
    """What an endpoint knows beyond these fields."""


class Tool(Model):
    """A function that the model may ask for."""

    name: str
    description: str = ""
    parameters: Mapping[str, JsonValue] = Field(default_factory=dict)
    """JSON schema of its arguments."""
    strict: bool | None = None


class ResponseFormat(BaseModel):
    """What form an answer must have; for ``json_schema`` the schema is in the field of that name."""

    model_config = ConfigDict(frozen=True, extra="allow")

    type: str


JSON_MODE = ResponseFormat(type="json_object")
"""Makes the answer a JSON object; the prompt must say so as well."""


class Request(Model):
    """One question to a model; equal requests are one question."""

    model: str = Field(min_length=1)
    messages: tuple[Message, ...] = Field(min_length=1)
    tools: tuple[Tool, ...] = ()
    tool_choice: str | Mapping[str, JsonValue] | None = None
    """``auto``, ``none``, ``required``, or one function."""
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = Field(default=None, gt=0)
    """Of the answer; without it a budget reserves nothing for the answer."""
    stop: tuple[str, ...] = ()
    seed: int | None = None
    response_format: ResponseFormat | None = None
    sample: int = Field(default=0, ge=0)
    """Which of several answers to the same question; never sent, but a recording keeps the answers apart by it."""
    extra: Mapping[str, JsonValue] = Field(default_factory=dict)
    """Parameters that an endpoint knows beyond these, such as ``reasoning_effort``."""


class TokenUsage(Model):
    """What was used: tokens, and US dollars if the price is known. Nothing used costs nothing."""

    prompt_tokens: int = Field(default=0, ge=0)
    cached_tokens: int = Field(default=0, ge=0)
    """Those of the prompt that the endpoint still knew."""
    completion_tokens: int = Field(default=0, ge=0)
    """With those of the reasoning."""
    cost: float | None = Field(default=0.0, ge=0)
    """US dollars; None if unknown."""
    estimated: bool = False
    """Whether the endpoint told no usage and it was guessed from the length of the texts."""

    @property
    def tokens(self) -> int:
        """All tokens, of prompt and answer."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: "TokenUsage") -> "TokenUsage":
        """Return both together; the cost is unknown as soon as one of the two is."""
        known = self.cost is not None and other.cost is not None
        return TokenUsage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cost=(self.cost or 0.0) + (other.cost or 0.0) if known else None,
            estimated=self.estimated or other.estimated,
        )


class Finish(StrEnum):
    """Why an answer ends."""

    STOP = "stop"
    LENGTH = "length"
    TOOL_CALLS = "tool_calls"
    FILTERED = "content_filter"
    OTHER = "other"


class Answer(Model):
    """What a model said, and what it took."""

    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    finish: Finish = Finish.STOP
    model: str = ""
    """As the endpoint names it; may be more precise than the name that was asked for."""
    usage: TokenUsage = Field(default_factory=TokenUsage)
    """Of this answer."""
    wasted: TokenUsage = Field(default_factory=TokenUsage)
    """Of failed tries before it, which are billed as well."""
    tries: int = Field(default=1, ge=1)
    seconds: float = Field(default=0.0, ge=0)
    """From the question to the answer, with the waits between tries."""
    replayed: bool = False
    """Whether it comes from a recording and cost nothing now."""

    def as_message(self) -> Message:
        """Return the answer as the next message of its conversation."""
        return Message(role=Role.ASSISTANT, content=self.content, tool_calls=self.tool_calls, reasoning=self.reasoning)


class ChatModel(Protocol):
    """A model that answers; wrappers (retries, budget, recording) are models around a model."""

    def complete(self, request: Request) -> Answer:
        """Answer one request; may be called from several threads at once.

        Raises:
            ModelError: there is no answer; the class says whether another try makes sense.
            BudgetExceeded: a limit leaves no room for the call.
            CassetteMiss: a recording is replayed and lacks this request.
        """
        ...
