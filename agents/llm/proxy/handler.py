"""One request to the proxy: authorise it, ask the model, build the reply, log the call. Knows no sockets."""

import json
import os
import threading
import time
from collections.abc import Sequence
from hmac import compare_digest
from pathlib import Path

from pydantic import Field, JsonValue

from assay.agents.llm.chat import Answer, ChatModel, TokenUsage
from assay.agents.llm.errors import BudgetExceeded, CassetteMiss, ContextTooLong, ModelUnavailable, RequestRefused
from assay.agents.llm.json_fields import Json, MalformedBody
from assay.agents.llm.proxy.dialects.base import ApiError, Dialect, HttpReply, HttpRequest, ParsedRequest, RouteKind
from assay.agents.llm.proxy.dialects.chat import Chat
from assay.agents.llm.samples import Samples
from assay.agents.llm.tokens import estimate_prompt
from assay.harness.domain import Model
from assay.harness.errors import AssayError
from assay.harness.redaction import redact

CHAT = Chat()

_STATUSES: dict[type[Exception], tuple[int, str]] = {
    BudgetExceeded: (402, "budget_exceeded"),
    CassetteMiss: (400, "cassette_miss"),
    ContextTooLong: (400, "context_length_exceeded"),
    RequestRefused: (400, "request_refused"),
    ModelUnavailable: (503, "model_unavailable"),
    MalformedBody: (400, "invalid_request"),
}
"""HTTP status and code of each error; clients do not retry any of these statuses but 503."""
_PUBLIC_MESSAGES = {
    ModelUnavailable: "the model cannot answer now",
    CassetteMiss: "there is no recorded answer to this question",
}
"""Sent instead of the error's own message, which names addresses or files of the host."""
_OTHER_STATUS = (502, "model_error")


class CallRecord(Model):
    """One line of the proxy's log."""

    time: float
    """Seconds since 1970."""
    request: str
    status: int
    model: str = ""
    usage: TokenUsage = Field(default_factory=TokenUsage)
    wasted: TokenUsage = Field(default_factory=TokenUsage)
    seconds: float = 0.0
    replayed: bool = False
    problem: str = ""
    left_out: tuple[str, ...] = ()
    """Tools and fields of the request that the model did not see."""


class ProxyHandler:
    """Answers requests with a model and logs each of them; safe to use from several threads."""

    def __init__(
        self,
        model: ChatModel,
        names: Sequence[str],
        token: str,
        log: Path | None = None,
        dialects: Sequence[Dialect] = (CHAT,),
    ) -> None:
        self._model = model
        self._names = tuple(names)
        self._token = token
        self._log = log
        self._dialects = tuple(dialects)
        self._samples = Samples()
        self._log_lock = threading.Lock()

    def reject_early(self, request: HttpRequest) -> HttpReply | None:
        """Return the error for a request whose path or token is wrong, None if its body should be read."""
        try:
            self._authorise(request)
        except ApiError as error:
            return self.reject(request, error)
        return None

    def reject(self, request: HttpRequest, error: ApiError) -> HttpReply:
        self._record(request, error.status, None, (), error)
        return HttpReply(error.status, json.dumps(self._dialect(request).error_body(error)))

    def answer(self, request: HttpRequest) -> HttpReply:
        """Answer one request; every failure becomes an error reply."""
        parsed: ParsedRequest | None = None
        answers: tuple[Answer, ...] = ()
        failure: Exception | None = None
        dialect = self._dialect(request)
        try:
            kind = self._authorise(request)
            if kind is RouteKind.MODELS:
                reply = HttpReply(200, json.dumps(dialect.models(self._names)))
            else:
                parsed = self._parse(dialect, request)
                if kind is RouteKind.COUNT:
                    reply = HttpReply(200, json.dumps(dialect.count(estimate_prompt(parsed.request))))
                else:
                    with self._samples.next(parsed.request, parsed.samples) as numbered:
                        answers = tuple(self._model.complete(sample) for sample in numbered)
                    reply = HttpReply(200, json.dumps(dialect.reply(parsed, answers)))
                    if parsed.is_stream:
                        reply = HttpReply(200, "".join(dialect.events(parsed, answers)), "text/event-stream")
        except Exception as error:  # whatever it is, the client gets a reply and the run continues
            failure = error
            refusal = _api_error(error)
            reply = HttpReply(refusal.status, json.dumps(dialect.error_body(refusal)))
        self._record(request, reply.status, parsed, answers, failure)
        return reply

    def _dialect(self, request: HttpRequest) -> Dialect:
        """Return the dialect that serves a request's path, or the first one, to spell the error."""
        return next((dialect for dialect in self._dialects if _find_kind(dialect, request)), self._dialects[0])

    def _authorise(self, request: HttpRequest) -> RouteKind:
        dialect = self._dialect(request)
        kind = _find_kind(dialect, request)
        if kind is None:
            served = " and ".join(route.path for dialect in self._dialects for route in dialect.routes)
            raise ApiError(403, "forbidden", f"this proxy serves {served} only")
        if not compare_digest(dialect.token(request).encode("utf-8", "replace"), self._token.encode()):
            raise ApiError(401, "invalid_api_key", "the API key is not this proxy's")
        return kind

    def _parse(self, dialect: Dialect, request: HttpRequest) -> ParsedRequest:
        parsed = dialect.parse(request, _json_object(request.body))
        if parsed.request.model not in self._names:
            raise ApiError(404, "model_not_found", f"unknown model; this proxy serves {', '.join(self._names)}")
        return parsed

    def _record(
        self,
        request: HttpRequest,
        status: int,
        parsed: ParsedRequest | None,
        answers: Sequence[Answer],
        failure: Exception | None,
    ) -> None:
        if self._log is None:
            return
        record = CallRecord(
            time=round(time.time(), 3),
            request=f"{request.method} {request.path}"[:200],
            status=status,
            model=parsed.request.model if parsed else "",
            left_out=parsed.left_out if parsed else (),
            usage=sum((answer.usage for answer in answers), TokenUsage()),
            wasted=sum((answer.wasted for answer in answers), getattr(failure, "spent", TokenUsage())),
            seconds=sum(answer.seconds for answer in answers),
            replayed=bool(answers) and all(answer.replayed for answer in answers),
            problem=redact(f"{type(failure).__name__}: {failure}").text[:500] if failure else "",
        )
        line = record.model_dump_json(exclude_defaults=True).encode() + b"\n"
        with self._log_lock, self._log.open("ab") as log:
            log.write(line)
            log.flush()
            os.fsync(log.fileno())


def _json_object(body: bytes) -> Json:
    try:
        parsed: JsonValue = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise MalformedBody("the body is not JSON") from error
    if not isinstance(parsed, dict):
        raise MalformedBody("the body must be a JSON object")
    return parsed


def _find_kind(dialect: Dialect, request: HttpRequest) -> RouteKind | None:
    return next((route.kind for route in dialect.routes if route.matches(request.method, request.path)), None)


def _api_error(error: Exception) -> ApiError:
    """Return the error to send; it reveals nothing about the host, its endpoint or its key."""
    if isinstance(error, ApiError):
        return error
    for kind, (status, code) in _STATUSES.items():
        if isinstance(error, kind):
            return ApiError(status, code, _PUBLIC_MESSAGES.get(kind, str(error)))
    what = "the model cannot be asked" if isinstance(error, AssayError) else "the proxy failed"
    return ApiError(*_OTHER_STATUS, f"{what}; the host's log says why")
