"""What the metering proxy needs to know of an interface to answer it: one form, pure, knowing no model and no socket.

The desk finds the form's route, compares the token, asks the model ``Wish.request`` and lets the form say the answers.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import ClassVar, Protocol

from assay.agents.llm.chat import Answer, Request
from assay.agents.llm.wire import Json, NotOfThisForm

MOST_SAMPLES = 64
"""Answers that one request may ask for."""


class Matter(Enum):
    """What a route is for."""

    ANSWER = auto()
    """A question to the model: ``Form.wish``, then ``Form.reply`` or ``Form.events``."""
    COUNT = auto()
    """How many tokens a question has, which costs nothing: ``Form.wish``, then ``Form.count``."""
    MODELS = auto()
    """Which models there are: ``Form.models``."""


@dataclass(frozen=True, slots=True)
class Route:
    """One kind of request that a form takes."""

    method: str
    path: str
    """As people write it; a name in braces stands for any text, such as a model's, which may hold slashes."""
    matter: Matter

    def takes(self, method: str, path: str) -> bool:
        """Tell whether a request is of this route; the path comes without its query."""
        pattern = re.sub(r"\\\{[a-z]+\\\}", ".+", re.escape(self.path))
        return method == self.method and re.fullmatch(pattern, path) is not None


@dataclass(frozen=True, slots=True)
class Ask:
    """One HTTP request."""

    method: str
    path: str
    """Without the query."""
    query: str = ""
    """Without the question mark."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case."""
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Told:
    """One HTTP reply."""

    status: int
    body: str
    content_type: str = "application/json"


class Refused(Exception):
    """A request is answered with an error, in the interface's form.

    Attributes:
        status: HTTP status; 402 once a limit is reached.
        code: what it is in one word: ``forbidden``, ``invalid_api_key``, ``model_not_found``, ``invalid_request``,
            ``budget_exceeded``, ``cassette_miss``, ``context_length_exceeded``, ``request_refused``,
            ``model_unavailable``, ``model_error``.
    """

    def __init__(self, status: int, code: str, problem: str) -> None:
        super().__init__(problem)
        self.status = status
        self.code = code


@dataclass(frozen=True, slots=True)
class Wish:
    """What a posted body asks for."""

    request: Request
    wanted: int = 1
    """How many answers."""
    is_stream: bool = False
    freeform: frozenset[str] = frozenset()
    """Tools that take a text where others take an object; the model is shown a function with one field."""
    namespaces: Mapping[str, str] = field(default_factory=dict)
    """Of tools that stand in one: the name that the model is shown, which begins with it, to the namespace."""
    left_out: tuple[str, ...] = ()
    """Tools that the service itself would run: the model does not hear of them, and the log says so."""


class Form(Protocol):
    """One interface. All methods are pure."""

    name: ClassVar[str]
    """As an adapter's ``speaks`` calls it."""
    routes: ClassVar[tuple[Route, ...]]
    """All that it takes; everything else is forbidden."""

    def token(self, ask: Ask) -> str:
        """Return the token that a request carries; empty without one. Reads the head alone."""
        ...

    def wish(self, ask: Ask, body: Json, /) -> Wish:
        """Read a posted body; the head is given for what stands in the path.

        Raises:
            NotOfThisForm: a field has the wrong form, or asks for what only the service itself has; one clear line.
        """
        ...

    def reply(self, wish: Wish, answers: Sequence[Answer]) -> Json:
        """Return the answers, one at least, as the body of one reply."""
        ...

    def events(self, wish: Wish, answers: Sequence[Answer]) -> Iterator[str]:
        """Yield the same as server-sent events, each with its empty line at the end."""
        ...

    def count(self, tokens: int) -> Json:
        """Return how many tokens a question has; called for a COUNT route only."""
        ...

    def models(self, names: Sequence[str]) -> Json:
        """Return the list of models; called for a MODELS route only."""
        ...

    def refusal(self, refused: Refused) -> Told:
        """Return an error as the interface spells it; a tool must not answer it with another try unless it is a 503."""
        ...


def bearer(ask: Ask) -> str:
    """Return the token of the usual header; empty if there is none."""
    kind, _, token = ask.headers.get("authorization", "").partition(" ")
    return token if kind == "Bearer" else ""


def counted(body: Json, name: str) -> int:
    """Return how many answers a body asks for in a field; 1 without it. Raises NotOfThisForm."""
    wanted = body.get(name) or 1
    if not isinstance(wanted, int) or not 1 <= wanted <= MOST_SAMPLES:
        raise NotOfThisForm(f"field {name} must be a number from 1 to {MOST_SAMPLES}")
    return wanted
