"""What the metering proxy does with one request, whatever carried it: who may ask, what, and what is told of it."""

import json
import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from hmac import compare_digest
from pathlib import Path

from pydantic import Field, JsonValue

from assay.agents.llm.chat import Answer, ChatModel, Request, Usage
from assay.agents.llm.errors import (
    BudgetExceeded,
    CassetteMiss,
    ContextTooLong,
    ModelUnavailable,
    RequestRefused,
)
from assay.agents.llm.samples import Samples
from assay.agents.llm.wire import Json, NotOfThisForm
from assay.agents.llm.wire_replies import to_events, to_reply
from assay.agents.llm.wire_requests import from_body
from assay.harness.domain import Model
from assay.harness.errors import AssayError

CHAT, MODELS = "/v1/chat/completions", "/v1/models"
ROUTES = {("POST", CHAT), ("GET", MODELS)}
"""All there is; everything else is forbidden."""
MOST_SAMPLES = 64
"""Answers that one request may ask for."""

_REFUSALS: dict[type[Exception], tuple[int, str]] = {
    BudgetExceeded: (402, "budget_exceeded"),
    CassetteMiss: (400, "cassette_miss"),
    ContextTooLong: (400, "context_length_exceeded"),
    RequestRefused: (400, "request_refused"),
    ModelUnavailable: (503, "model_unavailable"),
    NotOfThisForm: (400, "invalid_request"),
}
"""Statuses that clients do not answer with another try, but for 503."""
_OWN_WORDS = {
    ModelUnavailable: "the model cannot answer now",
    CassetteMiss: "there is no recorded answer to this question",
}
"""Instead of those of errors that tell of the host."""
_UNKNOWN = (502, "model_error")


class Call(Model):
    """One line of the proxy's log."""

    time: float
    """Seconds since 1970."""
    request: str
    """Method and path."""
    status: int
    model: str = ""
    usage: Usage = Field(default_factory=Usage)
    wasted: Usage = Field(default_factory=Usage)
    seconds: float = 0.0
    replayed: bool = False
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Ask:
    """One HTTP request."""

    method: str
    path: str
    """Without the query."""
    authorization: str = ""
    """The header."""
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Told:
    """One HTTP reply."""

    status: int
    body: str
    content_type: str = "application/json"


class Refused(Exception):
    """A request is answered with an error, in the interface's form."""

    def __init__(self, status: int, code: str, problem: str) -> None:
        super().__init__(problem)
        self.status = status
        self.code = code


class Desk:
    """Answers requests of a container or of an agent of others with a model, and writes down what each took."""

    def __init__(self, model: ChatModel, names: Sequence[str], token: str, log: Path | None = None) -> None:
        """Take the model with all its wrappers, the names it may be asked by, and what a request must carry."""
        self._model = model
        self._names = tuple(names)
        self._token = token
        self._log = log
        self._samples = Samples()
        self._writing = threading.Lock()

    def refuse(self, ask: Ask) -> Told | None:
        """Refuse a request for its head, before its body is read; None if it may go on."""
        try:
            self._admit(ask)
        except Refused as refused:
            return self.note_refusal(ask, refused)
        return None

    def answer(self, ask: Ask) -> Told:
        """Answer one request; whatever goes wrong is an answer too."""
        request: Request | None = None
        answers: tuple[Answer, ...] = ()
        failed: Exception | None = None
        try:
            self._admit(ask)
            if ask.path == MODELS:
                told = Told(200, json.dumps(self._models()))
            else:
                body = _parse(ask.body)
                request = self._read(body)
                answers = self._answers(request, _wanted(body))
                told = _reply(answers, request.model, is_stream=body.get("stream") is True)
        except Exception as error:  # whatever it is, the container hears of it and the run goes on
            failed = error
            told = _told(_refusal(error))
        self._note(ask, told.status, request, answers, failed)
        return told

    def note_refusal(self, ask: Ask, refused: Refused) -> Told:
        """Refuse a request, and write that down."""
        self._note(ask, refused.status, None, (), refused)
        return _told(refused)

    def _admit(self, ask: Ask) -> None:
        if (ask.method, ask.path) not in ROUTES:
            raise Refused(403, "forbidden", "this proxy serves /v1/chat/completions and /v1/models only")
        if not compare_digest(ask.authorization.encode("utf-8", "replace"), f"Bearer {self._token}".encode()):
            raise Refused(401, "invalid_api_key", "the key is not the one of this run")

    def _models(self) -> Json:
        return {
            "object": "list",
            "data": [{"id": name, "object": "model", "owned_by": "assay"} for name in self._names],
        }

    def _read(self, body: Json) -> Request:
        request = from_body(body)
        if request.model not in self._names:
            raise Refused(404, "model_not_found", f"there is no such model here; there is {', '.join(self._names)}")
        return request

    def _answers(self, request: Request, wanted: int) -> tuple[Answer, ...]:
        with self._samples.next(request, wanted) as samples:
            return tuple(self._model.complete(sample) for sample in samples)

    def _note(
        self, ask: Ask, status: int, request: Request | None, answers: Sequence[Answer], failed: Exception | None
    ) -> None:
        if self._log is None:
            return
        call = Call(
            time=round(time.time(), 3),
            request=f"{ask.method} {ask.path}"[:200],
            status=status,
            model=request.model if request else "",
            usage=sum((answer.usage for answer in answers), Usage()),
            wasted=sum((answer.wasted for answer in answers), getattr(failed, "spent", Usage())),
            seconds=sum(answer.seconds for answer in answers),
            replayed=bool(answers) and all(answer.replayed for answer in answers),
            problem=f"{type(failed).__name__}: {failed}"[:500] if failed else "",
        )
        line = call.model_dump_json(exclude_defaults=True).encode() + b"\n"
        with self._writing, self._log.open("ab") as log:
            log.write(line)
            log.flush()
            os.fsync(log.fileno())


def _parse(body: bytes) -> Json:
    try:
        parsed: JsonValue = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise NotOfThisForm("the body is no JSON") from error
    if not isinstance(parsed, dict):
        raise NotOfThisForm("the body must be a JSON object")
    return parsed


def _wanted(body: Json) -> int:
    wanted = body.get("n") or 1
    if not isinstance(wanted, int) or not 1 <= wanted <= MOST_SAMPLES:
        raise NotOfThisForm(f"field n must be a number from 1 to {MOST_SAMPLES}")
    return wanted


def _reply(answers: Sequence[Answer], model: str, *, is_stream: bool) -> Told:
    if is_stream:
        return Told(200, "".join(to_events(answers, model)), "text/event-stream")
    return Told(200, json.dumps(to_reply(answers, model)))


def _refusal(error: Exception) -> Refused:
    """Return what is told of an error; of what concerns the host and its key, nothing is."""
    if isinstance(error, Refused):
        return error
    for kind, (status, code) in _REFUSALS.items():
        if isinstance(error, kind):
            return Refused(status, code, _OWN_WORDS.get(kind, str(error)))
    what = "the model cannot be asked" if isinstance(error, AssayError) else "the proxy failed"
    return Refused(*_UNKNOWN, f"{what}; the host's log says why")


def _told(refused: Refused) -> Told:
    error = {"message": str(refused), "type": refused.code, "code": refused.code}
    return Told(refused.status, json.dumps({"error": error}))
