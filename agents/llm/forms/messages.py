"""Anthropic's messages interface: a conversation of blocks, a system text apart, a stream of named events."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from pydantic import JsonValue

from assay.agents.llm.chat import Answer, Finish, Usage
from assay.agents.llm.forms.base import Ask, Matter, Refused, Route, Told, Wish, bearer
from assay.agents.llm.forms.messages_in import read
from assay.agents.llm.forms.said import event, identifier, object_of, total
from assay.agents.llm.wire import Json

_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
}
_TOO_LONG = "prompt is too long"
"""By these words clients know that they must shorten the conversation."""
_ENDS = {Finish.LENGTH: "max_tokens", Finish.TOOL_CALLS: "tool_use", Finish.FILTERED: "refusal"}


class Messages:
    """``POST /v1/messages``, its count of tokens, and the list of models."""

    name: ClassVar[str] = "messages"
    routes: ClassVar[tuple[Route, ...]] = (
        Route("POST", "/v1/messages", Matter.ANSWER),
        Route("POST", "/v1/messages/count_tokens", Matter.COUNT),
        Route("GET", "/v1/models", Matter.MODELS),
    )

    def token(self, ask: Ask) -> str:
        """Return the key of the interface's own header, or the bearer's token."""
        return ask.headers.get("x-api-key", "") or bearer(ask)

    def wish(self, _ask: Ask, body: Json, /) -> Wish:
        """Read a body; see ``messages_in``."""
        return read(body)

    def reply(self, wish: Wish, answers: Sequence[Answer]) -> Json:
        """Return the one answer as blocks: its text, then its calls."""
        answer = answers[0]
        return {
            **_head(wish, answer),
            "content": list(_blocks(answer)),
            "stop_reason": _end(answer),
            "usage": _usage(total(answers)),
        }

    def events(self, wish: Wish, answers: Sequence[Answer]) -> Iterator[str]:
        """Yield the message's start, each block's start, content and end, why it ends, and that it ends."""
        answer, usage = answers[0], _usage(total(answers))
        start: Json = {**_head(wish, answer), "usage": {**usage, "output_tokens": 0}}
        yield event({"type": "message_start", "message": start})
        for index, block in enumerate(_blocks(answer)):
            yield from _block_events(index, block)
        delta: Json = {"stop_reason": _end(answer), "stop_sequence": None}
        yield event({"type": "message_delta", "delta": delta, "usage": usage})
        yield event({"type": "message_stop"})

    def count(self, tokens: int) -> Json:
        """Return the count."""
        return {"input_tokens": tokens}

    def models(self, names: Sequence[str]) -> Json:
        """Return the list of models, whole on one page."""
        data: list[JsonValue] = [
            {"type": "model", "id": name, "display_name": name, "created_at": "1970-01-01T00:00:00Z"} for name in names
        ]
        return {"data": data, "has_more": False, "first_id": names[0], "last_id": names[-1]}

    def refusal(self, refused: Refused) -> Told:
        """Return an error with the interface's word for its status."""
        words = f"{_TOO_LONG}: {refused}" if refused.code == "context_length_exceeded" else str(refused)
        error: Json = {"type": _KINDS.get(refused.status, "api_error"), "message": words}
        return Told(refused.status, json.dumps({"type": "error", "error": error}))


def _head(wish: Wish, answer: Answer) -> Json:
    return {
        "id": identifier("msg", wish, answer),
        "type": "message",
        "role": "assistant",
        "model": answer.model or wish.request.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }


def _blocks(answer: Answer) -> Iterable[Json]:
    """Yield text and calls. Thoughts stay away: the interface wants them signed; the trajectory has them."""
    if answer.content:
        yield {"type": "text", "text": answer.content}
    for call in answer.tool_calls:
        yield {"type": "tool_use", "id": call.id, "name": call.name, "input": object_of(call.arguments)}


def _block_events(index: int, block: Json) -> Iterator[str]:
    if block["type"] == "text":
        empty: Json = {"type": "text", "text": ""}
        delta: Json = {"type": "text_delta", "text": block["text"]}
    else:
        empty = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    yield event({"type": "content_block_start", "index": index, "content_block": empty})
    yield event({"type": "content_block_delta", "index": index, "delta": delta})
    yield event({"type": "content_block_stop", "index": index})


def _end(answer: Answer) -> str:
    if answer.tool_calls and answer.finish is not Finish.LENGTH:
        return "tool_use"
    return _ENDS.get(answer.finish, "end_turn") if answer.finish is not Finish.TOOL_CALLS else "end_turn"


def _usage(used: Usage) -> Json:
    return {
        "input_tokens": max(used.prompt_tokens - used.cached_tokens, 0),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": used.cached_tokens,
        "output_tokens": used.completion_tokens,
    }
