"""What the metering proxy does with one request, whatever carried it: who may ask, what, and what is told of it."""

import json
import os
import threading
import time
from collections.abc import Sequence
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
from assay.agents.llm.forms.base import Ask, Form, Matter, Refused, Route, Told, Wish
from assay.agents.llm.forms.chat import Chat
from assay.agents.llm.samples import Samples
from assay.agents.llm.wire import Json, NotOfThisForm
from assay.agents.llm.wire_requests import estimate_prompt
from assay.harness.domain import Model
from assay.harness.errors import AssayError

CHAT = Chat()

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
    left_out: tuple[str, ...] = ()
    """Tools of the request that the model was not shown."""


class Desk:
    """Answers requests of a container or of an agent of others with a model, and writes down what each took."""

    def __init__(
        self,
        model: ChatModel,
        names: Sequence[str],
        token: str,
        log: Path | None = None,
        forms: Sequence[Form] = (CHAT,),
    ) -> None:
        """Take who answers and who may ask.

        Args:
            model: the model with all its wrappers.
            names: names it may be asked by.
            token: what a request must carry.
            log: file that gets a line for each request.
            forms: interfaces that are answered; what is a route of none of them is forbidden.
        """
        self._model = model
        self._names = tuple(names)
        self._token = token
        self._log = log
        self._forms = tuple(forms)
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
        wish: Wish | None = None
        answers: tuple[Answer, ...] = ()
        failed: Exception | None = None
        form = self._form(ask)
        try:
            route = self._admit(ask)
            if route.matter is Matter.MODELS:
                told = Told(200, json.dumps(form.models(self._names)))
            else:
                wish = self._read(form, ask)
                if route.matter is Matter.COUNT:
                    told = Told(200, json.dumps(form.count(estimate_prompt(wish.request))))
                else:
                    answers = self._answers(wish.request, wish.wanted)
                    told = _reply(form, wish, answers)
        except Exception as error:  # whatever it is, the container hears of it and the run goes on
            failed = error
            told = form.refusal(_refusal(error))
        self._note(ask, told.status, wish, answers, failed)
        return told

    def note_refusal(self, ask: Ask, refused: Refused) -> Told:
        """Refuse a request, and write that down."""
        self._note(ask, refused.status, None, (), refused)
        return self._form(ask).refusal(refused)

    def _form(self, ask: Ask) -> Form:
        """Return the form that a request is of; of none, the first, which then says so."""
        return next((form for form in self._forms if _route(form, ask)), self._forms[0])

    def _admit(self, ask: Ask) -> Route:
        form = self._form(ask)
        route = _route(form, ask)
        if route is None:
            served = " and ".join(route.path for form in self._forms for route in form.routes)
            raise Refused(403, "forbidden", f"this proxy serves {served} only")
        if not compare_digest(form.token(ask).encode("utf-8", "replace"), self._token.encode()):
            raise Refused(401, "invalid_api_key", "the key is not the one of this run")
        return route

    def _read(self, form: Form, ask: Ask) -> Wish:
        wish = form.wish(ask, _parse(ask.body))
        if wish.request.model not in self._names:
            raise Refused(404, "model_not_found", f"there is no such model here; there is {', '.join(self._names)}")
        return wish

    def _answers(self, request: Request, wanted: int) -> tuple[Answer, ...]:
        with self._samples.next(request, wanted) as samples:
            return tuple(self._model.complete(sample) for sample in samples)

    def _note(
        self, ask: Ask, status: int, wish: Wish | None, answers: Sequence[Answer], failed: Exception | None
    ) -> None:
        if self._log is None:
            return
        call = Call(
            time=round(time.time(), 3),
            request=f"{ask.method} {ask.path}"[:200],
            status=status,
            model=wish.request.model if wish else "",
            left_out=wish.left_out if wish else (),
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


def _route(form: Form, ask: Ask) -> Route | None:
    return next((route for route in form.routes if route.takes(ask.method, ask.path)), None)


def _reply(form: Form, wish: Wish, answers: Sequence[Answer]) -> Told:
    if wish.is_stream:
        return Told(200, "".join(form.events(wish, answers)), "text/event-stream")
    return Told(200, json.dumps(form.reply(wish, answers)))


def _refusal(error: Exception) -> Refused:
    """Return what is told of an error; of what concerns the host and its key, nothing is."""
    if isinstance(error, Refused):
        return error
    for kind, (status, code) in _REFUSALS.items():
        if isinstance(error, kind):
            return Refused(status, code, _OWN_WORDS.get(kind, str(error)))
    what = "the model cannot be asked" if isinstance(error, AssayError) else "the proxy failed"
    return Refused(*_UNKNOWN, f"{what}; the host's log says why")
