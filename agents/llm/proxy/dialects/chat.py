"""OpenAI's chat completions API; its JSON is in ``openai_chat``, which the client uses too."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from assay.agents.llm.chat import Answer
from assay.agents.llm.json_fields import Json
from assay.agents.llm.openai_chat.replies import answers_to_events, answers_to_json
from assay.agents.llm.openai_chat.requests import request_from_json
from assay.agents.llm.proxy.dialects.base import ApiError, HttpRequest, ParsedRequest, Route, RouteKind, sample_count
from assay.agents.llm.proxy.dialects.common import OpenAiDialect

PASSED = frozenset(
    {
        *("reasoning", "reasoning_effort", "thinking", "verbosity", "prediction", "parallel_tool_calls"),
        *("presence_penalty", "frequency_penalty", "repetition_penalty", "logit_bias", "logprobs", "top_logprobs"),
        *("top_k", "min_p", "chat_template_kwargs", "prompt_cache_key"),
    }
)
"""Fields beside the common ones that reach the endpoint; others could make it search the web or ask another model."""


class Chat(OpenAiDialect):
    """``POST /v1/chat/completions`` and the list of models."""

    name: ClassVar[str] = "chat"
    routes: ClassVar[tuple[Route, ...]] = (
        Route("POST", "/v1/chat/completions", RouteKind.ANSWER),
        Route("GET", "/v1/models", RouteKind.MODELS),
    )

    def parse(self, _request: HttpRequest, body: Json, /) -> ParsedRequest:
        request = request_from_json(body)
        passed = {name: value for name, value in request.extra.items() if name in PASSED}
        left_out = tuple(name[:100] for name in sorted(request.extra.keys() - passed)[:20])
        request = request.model_copy(update={"extra": passed})
        return ParsedRequest(request, sample_count(body, "n"), body.get("stream") is True, left_out=left_out)

    def reply(self, parsed: ParsedRequest, answers: Sequence[Answer]) -> Json:
        return answers_to_json(answers, parsed.request.model)

    def events(self, parsed: ParsedRequest, answers: Sequence[Answer]) -> Iterator[str]:
        return answers_to_events(answers, parsed.request.model)

    def error_body(self, error: ApiError) -> Json:
        return {"error": {"message": str(error), "type": error.code, "code": error.code}}
