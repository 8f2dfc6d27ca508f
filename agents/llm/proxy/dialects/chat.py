"""OpenAI's chat completions API; its JSON is in ``openai_chat``, which the client uses too."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from assay.agents.llm.chat import Answer
from assay.agents.llm.json_fields import Json
from assay.agents.llm.openai_chat.replies import answers_to_events, answers_to_json
from assay.agents.llm.openai_chat.requests import request_from_json
from assay.agents.llm.proxy.dialects.base import ApiError, HttpRequest, ParsedRequest, Route, RouteKind, sample_count
from assay.agents.llm.proxy.dialects.common import OpenAiDialect


class Chat(OpenAiDialect):
    """``POST /v1/chat/completions`` and the list of models."""

    name: ClassVar[str] = "chat"
    routes: ClassVar[tuple[Route, ...]] = (
        Route("POST", "/v1/chat/completions", RouteKind.ANSWER),
        Route("GET", "/v1/models", RouteKind.MODELS),
    )

    def parse(self, _request: HttpRequest, body: Json, /) -> ParsedRequest:
        return ParsedRequest(request_from_json(body), sample_count(body, "n"), body.get("stream") is True)

    def reply(self, parsed: ParsedRequest, answers: Sequence[Answer]) -> Json:
        return answers_to_json(answers, parsed.request.model)

    def events(self, parsed: ParsedRequest, answers: Sequence[Answer]) -> Iterator[str]:
        return answers_to_events(answers, parsed.request.model)

    def error_body(self, error: ApiError) -> Json:
        return {"error": {"message": str(error), "type": error.code, "code": error.code}}
