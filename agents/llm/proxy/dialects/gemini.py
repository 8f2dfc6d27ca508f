"""Google's generateContent API: model and verb are in the path, a conversation is contents of parts."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar
from urllib.parse import parse_qs, unquote

from pydantic import JsonValue

from assay.agents.llm.chat import Answer, Finish
from assay.agents.llm.json_fields import Json, MalformedBody
from assay.agents.llm.proxy.dialects.base import ApiError, HttpRequest, ParsedRequest, Route, RouteKind, bearer_token
from assay.agents.llm.proxy.dialects.common import answer_id, arguments_object, total_usage
from assay.agents.llm.proxy.dialects.gemini_request import parse_gemini

_VERSIONS = ("v1beta", "v1")  # they do not differ in any field used here; clients use either
_ANSWER, _STREAM, _COUNT = "generateContent", "streamGenerateContent", "countTokens"
_PATH = re.compile(rf"/(?:{'|'.join(_VERSIONS)})/models/(.+):([A-Za-z]+)")
"""A model's name may hold slashes and colons."""
_STATUSES = {
    401: "UNAUTHENTICATED",
    402: "RESOURCE_EXHAUSTED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}
_TOO_LONG = "the input token count exceeds the maximum number of tokens allowed"
"""Clients shorten the conversation when an error contains these words."""
_FINISH_REASONS = {Finish.LENGTH: "MAX_TOKENS", Finish.FILTERED: "SAFETY", Finish.OTHER: "OTHER"}
"""Anything else is STOP, tool calls included."""


class Gemini:
    """``POST /v1beta/models/{model}:generateContent``, its stream and token count, and the list of models."""

    name: ClassVar[str] = "gemini"
    routes: ClassVar[tuple[Route, ...]] = tuple(
        route
        for version in _VERSIONS
        for route in (
            Route("POST", f"/{version}/models/{{model}}:{_ANSWER}", RouteKind.ANSWER),
            Route("POST", f"/{version}/models/{{model}}:{_STREAM}", RouteKind.ANSWER),
            Route("POST", f"/{version}/models/{{model}}:{_COUNT}", RouteKind.COUNT),
            Route("GET", f"/{version}/models", RouteKind.MODELS),
        )
    )

    def token(self, request: HttpRequest) -> str:
        """Return the key in ``x-goog-api-key`` or in the query, or the bearer token."""
        in_query = parse_qs(request.query).get("key", [""])[0]
        return request.headers.get("x-goog-api-key", "") or in_query or bearer_token(request)

    def parse(self, request: HttpRequest, body: Json) -> ParsedRequest:
        """Read a body; see ``gemini_request``. Streams must be asked for as server-sent events (``alt=sse``)."""
        found = _PATH.fullmatch(request.path)
        if found is None:
            raise MalformedBody(f"the path must be /{_VERSIONS[0]}/models/MODEL:VERB")
        is_stream = found[2] == _STREAM
        if is_stream and parse_qs(request.query).get("alt") != ["sse"]:
            raise MalformedBody("streams are server-sent events only: add alt=sse to the query")
        return parse_gemini(unquote(found[1]), body, is_stream=is_stream)

    def reply(self, parsed: ParsedRequest, answers: Sequence[Answer]) -> Json:
        return {**_head(parsed, answers), "candidates": list(_candidates(answers)), "usageMetadata": _usage(answers)}

    def events(self, parsed: ParsedRequest, answers: Sequence[Answer]) -> Iterator[str]:
        for at, candidate in enumerate(_candidates(answers), start=1):
            piece: Json = {**_head(parsed, answers), "candidates": [candidate]}
            if at == len(answers):
                piece["usageMetadata"] = _usage(answers)
            yield f"data: {json.dumps(piece)}\n\n"

    def count(self, tokens: int) -> Json:
        return {"totalTokens": tokens}

    def models(self, names: Sequence[str]) -> Json:
        verbs: list[JsonValue] = [_ANSWER, _COUNT]
        return {
            "models": [
                {"name": f"models/{name}", "displayName": name, "supportedGenerationMethods": verbs} for name in names
            ]
        }

    def error_body(self, error: ApiError) -> Json:
        message = f"{_TOO_LONG}: {error}" if error.code == "context_length_exceeded" else str(error)
        default = "INTERNAL" if error.status >= 500 else "INVALID_ARGUMENT"
        status = _STATUSES.get(error.status, default)
        return {"error": {"code": error.status, "message": message, "status": status}}


def _head(parsed: ParsedRequest, answers: Sequence[Answer]) -> Json:
    return {
        "modelVersion": answers[0].model or parsed.request.model,
        "responseId": answer_id("resp", parsed, answers[0]),
    }


def _candidates(answers: Sequence[Answer]) -> Iterator[Json]:
    for index, answer in enumerate(answers):
        parts: list[JsonValue] = [*_parts(answer)] or [{"text": ""}]
        yield {
            "content": {"role": "model", "parts": parts},
            "finishReason": _FINISH_REASONS.get(answer.finish, "STOP"),
            "index": index,
        }


def _parts(answer: Answer) -> Iterable[Json]:
    if answer.reasoning:
        yield {"text": answer.reasoning, "thought": True}
    if answer.content:
        yield {"text": answer.content}
    for call in answer.tool_calls:
        identifier: Json = {"id": call.id} if call.id else {}
        yield {"functionCall": {**identifier, "name": call.name, "args": arguments_object(call.arguments)}}


def _usage(answers: Sequence[Answer]) -> JsonValue:
    used = total_usage(answers)
    return {
        "promptTokenCount": used.prompt_tokens,
        "cachedContentTokenCount": used.cached_tokens,
        "candidatesTokenCount": used.completion_tokens,
        "totalTokenCount": used.tokens,
    }
