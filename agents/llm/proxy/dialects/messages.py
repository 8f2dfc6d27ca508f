"""Anthropic's messages API: content blocks, a separate system text, a stream of named events."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from pydantic import JsonValue

from assay.agents.llm.chat import Answer, Finish, TokenUsage
from assay.agents.llm.json_fields import Json
from assay.agents.llm.proxy.dialects.base import ApiError, HttpRequest, ParsedRequest, Route, RouteKind, bearer_token
from assay.agents.llm.proxy.dialects.common import answer_id, arguments_object, format_event, total_usage
from assay.agents.llm.proxy.dialects.messages_request import parse_messages

_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
}
_TOO_LONG = "prompt is too long"  # clients shorten the conversation when an error contains these words
_STOP_REASONS = {Finish.LENGTH: "max_tokens", Finish.FILTERED: "refusal"}


class Messages:
    """``POST /v1/messages``, its token count, and the list of models."""

    name: ClassVar[str] = "messages"
    routes: ClassVar[tuple[Route, ...]] = (
        Route("POST", "/v1/messages", RouteKind.ANSWER),
        Route("POST", "/v1/messages/count_tokens", RouteKind.COUNT),
        Route("GET", "/v1/models", RouteKind.MODELS),
    )

    def token(self, request: HttpRequest) -> str:
        return request.headers.get("x-api-key", "") or bearer_token(request)

    def parse(self, _request: HttpRequest, body: Json, /) -> ParsedRequest:
        return parse_messages(body)

    def reply(self, parsed: ParsedRequest, answers: Sequence[Answer]) -> Json:
        answer = answers[0]
        return {
            **_head(parsed, answer),
            "content": list(_blocks(answer)),
            "stop_reason": _stop_reason(answer),
            "usage": _usage(total_usage(answers)),
        }

    def events(self, parsed: ParsedRequest, answers: Sequence[Answer]) -> Iterator[str]:
        answer, usage = answers[0], _usage(total_usage(answers))
        start: Json = {**_head(parsed, answer), "usage": {**usage, "output_tokens": 0}}
        yield format_event({"type": "message_start", "message": start})
        for index, block in enumerate(_blocks(answer)):
            yield from _block_events(index, block)
        delta: Json = {"stop_reason": _stop_reason(answer), "stop_sequence": None}
        yield format_event({"type": "message_delta", "delta": delta, "usage": usage})
        yield format_event({"type": "message_stop"})

    def count(self, tokens: int) -> Json:
        return {"input_tokens": tokens}

    def models(self, names: Sequence[str]) -> Json:
        data: list[JsonValue] = [
            {"type": "model", "id": name, "display_name": name, "created_at": "1970-01-01T00:00:00Z"} for name in names
        ]
        return {"data": data, "has_more": False, "first_id": names[0], "last_id": names[-1]}

    def error_body(self, error: ApiError) -> Json:
        message = f"{_TOO_LONG}: {error}" if error.code == "context_length_exceeded" else str(error)
        kind = _ERROR_TYPES.get(error.status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": message}}


def _head(parsed: ParsedRequest, answer: Answer) -> Json:
    return {
        "id": answer_id("msg", parsed, answer),
        "type": "message",
        "role": "assistant",
        "model": answer.model or parsed.request.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }


def _blocks(answer: Answer) -> Iterable[Json]:
    """Yield text and tool calls. Reasoning is omitted: the API requires a signature for it."""
    if answer.content:
        yield {"type": "text", "text": answer.content}
    for call in answer.tool_calls:
        yield {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments_object(call.arguments)}


def _block_events(index: int, block: Json) -> Iterator[str]:
    if block["type"] == "text":
        empty: Json = {"type": "text", "text": ""}
        delta: Json = {"type": "text_delta", "text": block["text"]}
    else:
        empty = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    yield format_event({"type": "content_block_start", "index": index, "content_block": empty})
    yield format_event({"type": "content_block_delta", "index": index, "delta": delta})
    yield format_event({"type": "content_block_stop", "index": index})


def _stop_reason(answer: Answer) -> str:
    if answer.tool_calls and answer.finish is not Finish.LENGTH:
        return "tool_use"
    return _STOP_REASONS.get(answer.finish, "end_turn")


def _usage(used: TokenUsage) -> Json:
    return {
        "input_tokens": max(used.prompt_tokens - used.cached_tokens, 0),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": used.cached_tokens,
        "output_tokens": used.completion_tokens,
    }
