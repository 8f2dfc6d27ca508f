"""The protocol of a model API dialect, and the HTTP requests and replies it translates. Pure: no model, no socket."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import ClassVar, Protocol

from pydantic import JsonValue

from assay.agents.llm.chat import Answer, Part, Request
from assay.agents.llm.json_fields import Json, MalformedBody

_CONTENT = {
    "image_url": ("url", "detail", re.compile(r"data:image/[\w.+-]+[;,]")),
    "file": ("file_data", "filename", re.compile(r"data:")),
    "input_audio": ("data", "format", re.compile(r"[\w+/=-]*\Z")),
}
"""The field with the content of each type of part, the one field that may be beside it, and how the content begins."""
MAX_SAMPLES = 64  # answers that one request may ask for


class RouteKind(Enum):
    ANSWER = auto()
    """Ask the model: ``Dialect.parse``, then ``Dialect.reply`` or ``Dialect.events``."""
    COUNT = auto()
    """Estimate the tokens of a question without asking the model: ``Dialect.parse``, then ``Dialect.count``."""
    MODELS = auto()
    """List the models: ``Dialect.models``."""


@dataclass(frozen=True, slots=True)
class Route:
    """A method and a path pattern that a dialect serves."""

    method: str
    path: str
    """A name in braces matches any non-empty text, slashes included, such as a model's name."""
    kind: RouteKind

    def matches(self, method: str, path: str) -> bool:
        """Return whether a request takes this route; ``path`` has no query."""
        pattern = re.sub(r"\\\{[a-z]+\\\}", ".+", re.escape(self.path))
        return method == self.method and re.fullmatch(pattern, path) is not None


@dataclass(frozen=True, slots=True)
class HttpRequest:
    method: str
    path: str
    """The path has no query."""
    query: str = ""
    """The query has no question mark."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case."""
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class HttpReply:
    status: int
    body: str
    content_type: str = "application/json"


class ApiError(Exception):
    """An error to send to the client.

    Attributes:
        status: HTTP status; 402 once a budget is used up.
        code: one of ``forbidden``, ``invalid_api_key``, ``model_not_found``, ``invalid_request``, ``budget_exceeded``,
            ``cassette_miss``, ``context_length_exceeded``, ``request_refused``, ``model_unavailable``, ``model_error``.
    """

    def __init__(self, status: int, code: str, problem: str) -> None:
        super().__init__(problem)
        self.status = status
        self.code = code


@dataclass(frozen=True, slots=True)
class ParsedRequest:
    """A posted body as a question to the model, and what is needed to write the reply."""

    request: Request
    samples: int = 1
    is_stream: bool = False
    freeform: frozenset[str] = frozenset()
    """Tools whose input is plain text; the model sees each as a function with one string parameter."""
    namespaces: Mapping[str, str] = field(default_factory=dict)
    """Tool name as the model sees it, which starts with the namespace, to that namespace."""
    left_out: tuple[str, ...] = ()
    """Tools that only the API's own service can run, and fields that are not passed on; the log lists them."""

    def __post_init__(self) -> None:
        """Check that the question brings its pictures and files along. Raises MalformedBody.

        An endpoint fetches what an address names: that would be a way out of a container without network, and into the
        endpoint's own.
        """
        for message in self.request.messages:
            for part in message.content if isinstance(message.content, tuple) else ():
                _check_part(part)


def _check_part(part: Part) -> None:
    fields = part.model_dump(mode="json")
    kind = fields.pop("type")
    if kind not in {"text", *_CONTENT}:
        raise MalformedBody(f"a part of the type {kind[:100]} is not supported")
    if not _is_brought(kind, fields.get(kind)):
        raise MalformedBody(
            f"a part of the type {kind} must bring its content along, as a data: URL; there is no network"
        )


def _is_brought(kind: str, value: JsonValue) -> bool:
    if kind == "text":
        return isinstance(value, str)
    name, beside, begin = _CONTENT[kind]
    content = value.get(name) if isinstance(value, dict) and value.keys() <= {name, beside} else None
    return isinstance(content, str) and begin.match(content) is not None


class Dialect(Protocol):
    """One model API. All methods are pure."""

    name: ClassVar[str]
    """The name in the field ``speaks`` of an adapter."""
    routes: ClassVar[tuple[Route, ...]]
    """Every other request is answered with 403."""

    def token(self, request: HttpRequest) -> str:
        """Return the API key of a request, from headers and query alone; empty if it has none."""
        ...

    def parse(self, request: HttpRequest, body: Json, /) -> ParsedRequest:
        """Read a posted body; ``request`` is there for fields that are in the path.

        Raises MalformedBody: a field is wrong, or needs state or tools that only the API's own service has; one line.
        """
        ...

    def reply(self, parsed: ParsedRequest, answers: Sequence[Answer]) -> Json:
        """Return the body of the reply for one or more answers."""
        ...

    def events(self, parsed: ParsedRequest, answers: Sequence[Answer]) -> Iterator[str]:
        """Yield the same reply as server-sent events, each with its final empty line."""
        ...

    def count(self, tokens: int) -> Json:
        """Return the body that reports a token count; called for a COUNT route only."""
        ...

    def models(self, names: Sequence[str]) -> Json:
        """Return the body that lists the models; called for a MODELS route only."""
        ...

    def error_body(self, error: ApiError) -> Json:
        """Return the API's spelling of an error; clients must retry it on status 503 only."""
        ...


def bearer_token(request: HttpRequest) -> str:
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    return token if kind == "Bearer" else ""


def sample_count(body: Json, name: str) -> int:
    """Return the number of answers asked for in the field ``name``, 1 by default. Raises MalformedBody."""
    wanted = body.get(name) or 1
    if not isinstance(wanted, int) or not 1 <= wanted <= MAX_SAMPLES:
        raise MalformedBody(f"field {name} must be a number from 1 to {MAX_SAMPLES}")
    return wanted
