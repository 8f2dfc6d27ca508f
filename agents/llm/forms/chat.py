"""OpenAI's chat completions, which every server of models speaks; its spelling is that of ``wire``, as the client's."""

import json
from collections.abc import Iterator, Sequence
from typing import ClassVar

from assay.agents.llm.chat import Answer
from assay.agents.llm.forms.base import Ask, Matter, Refused, Route, Told, Wish, bearer, counted
from assay.agents.llm.wire import Json
from assay.agents.llm.wire_replies import to_events, to_reply
from assay.agents.llm.wire_requests import from_body


class Chat:
    """``POST /v1/chat/completions``."""

    name: ClassVar[str] = "chat"
    routes: ClassVar[tuple[Route, ...]] = (
        Route("POST", "/v1/chat/completions", Matter.ANSWER),
        Route("GET", "/v1/models", Matter.MODELS),
    )

    def token(self, ask: Ask) -> str:
        """Return the bearer's token."""
        return bearer(ask)

    def wish(self, _ask: Ask, body: Json, /) -> Wish:
        """Read a body; a tool that is no function is refused."""
        return Wish(from_body(body), counted(body, "n"), body.get("stream") is True)

    def reply(self, wish: Wish, answers: Sequence[Answer]) -> Json:
        """Return a reply with a choice for each answer."""
        return to_reply(answers, wish.request.model)

    def events(self, wish: Wish, answers: Sequence[Answer]) -> Iterator[str]:
        """Yield an event for each answer, one for the usage and the mark of the end."""
        return to_events(answers, wish.request.model)

    def count(self, tokens: int) -> Json:
        """Raise NotImplementedError: the interface has no such question."""
        raise NotImplementedError

    def models(self, names: Sequence[str]) -> Json:
        """Return the list of models."""
        return listed_models(names)

    def refusal(self, refused: Refused) -> Told:
        """Return an error with its code."""
        error = {"message": str(refused), "type": refused.code, "code": refused.code}
        return Told(refused.status, json.dumps({"error": error}))


def listed_models(names: Sequence[str]) -> Json:
    """Return a list of models as both interfaces of OpenAI spell it."""
    return {
        "object": "list",
        "data": [{"id": name, "object": "model", "owned_by": "assay"} for name in names],
    }
