"""Google's generateContent interface: the model and the verb stand in the path, a conversation is contents of parts."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar
from urllib.parse import parse_qs, unquote

from pydantic import JsonValue

from assay.agents.llm.chat import Answer, Finish, Usage
from assay.agents.llm.forms.base import Ask, Matter, Refused, Route, Told, Wish, bearer
from assay.agents.llm.forms.gemini_in import read
from assay.agents.llm.forms.said import identifier, object_of, total
from assay.agents.llm.wire import Json, NotOfThisForm

_VERSIONS = ("v1beta", "v1")
"""They differ in nothing that is read or told here; programs ask in either."""
_ANSWER, _STREAM, _COUNT = "generateContent", "streamGenerateContent", "countTokens"
_PATH = re.compile(rf"/(?:{'|'.join(_VERSIONS)})/models/(.+):([A-Za-z]+)")
"""The name of a model may hold slashes and colons of its own."""
_STATUSES = {
    401: "UNAUTHENTICATED",
    402: "RESOURCE_EXHAUSTED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}
_TOO_LONG = "the input token count exceeds the maximum number of tokens allowed"
"""By these words clients know that they must shorten the conversation."""
_ENDS = {Finish.LENGTH: "MAX_TOKENS", Finish.FILTERED: "SAFETY", Finish.OTHER: "OTHER"}
"""A call for a tool is an ordinary end."""


class Gemini:
    """``POST /v1beta/models/{model}:generateContent``, as a stream too; its count of tokens, the list of models."""

    name: ClassVar[str] = "gemini"
    routes: ClassVar[tuple[Route, ...]] = tuple(
        route
        for version in _VERSIONS
        for route in (
            Route("POST", f"/{version}/models/{{model}}:{_ANSWER}", Matter.ANSWER),
            Route("POST", f"/{version}/models/{{model}}:{_STREAM}", Matter.ANSWER),
            Route("POST", f"/{version}/models/{{model}}:{_COUNT}", Matter.COUNT),
            Route("GET", f"/{version}/models", Matter.MODELS),
        )
    )

    def token(self, ask: Ask) -> str:
        """Return the key of the interface's own header or of the query, or the bearer's token."""
        in_query = parse_qs(ask.query).get("key", [""])[0]
        return ask.headers.get("x-goog-api-key", "") or in_query or bearer(ask)

    def wish(self, ask: Ask, body: Json) -> Wish:
        """Read a body; see ``gemini_in``. A stream must be asked for as server-sent events (``alt=sse``)."""
        found = _PATH.fullmatch(ask.path)
        if found is None:
            raise NotOfThisForm(f"the path must be /{_VERSIONS[0]}/models/MODEL:VERB")
        is_stream = found[2] == _STREAM
        if is_stream and parse_qs(ask.query).get("alt") != ["sse"]:
            raise NotOfThisForm("a stream comes as server-sent events only: ask for it with alt=sse")
        return read(unquote(found[1]), body, is_stream=is_stream)

    def reply(self, wish: Wish, answers: Sequence[Answer]) -> Json:
        """Return a candidate for each answer: its thoughts, its text, then its calls."""
        return {**_head(wish, answers), "candidates": list(_candidates(answers)), "usageMetadata": _usage(answers)}

    def events(self, wish: Wish, answers: Sequence[Answer]) -> Iterator[str]:
        """Yield an event for each answer; the last one tells the usage."""
        for at, candidate in enumerate(_candidates(answers), start=1):
            piece: Json = {**_head(wish, answers), "candidates": [candidate]}
            if at == len(answers):
                piece["usageMetadata"] = _usage(answers)
            yield f"data: {json.dumps(piece)}\n\n"

    def count(self, tokens: int) -> Json:
        """Return the count."""
        return {"totalTokens": tokens}

    def models(self, names: Sequence[str]) -> Json:
        """Return the list of models, whole on one page."""
        verbs: list[JsonValue] = [_ANSWER, _COUNT]
        return {
            "models": [
                {"name": f"models/{name}", "displayName": name, "supportedGenerationMethods": verbs} for name in names
            ]
        }

    def refusal(self, refused: Refused) -> Told:
        """Return an error with the interface's word for its status."""
        words = f"{_TOO_LONG}: {refused}" if refused.code == "context_length_exceeded" else str(refused)
        usual = "INTERNAL" if refused.status >= 500 else "INVALID_ARGUMENT"
        error = {"code": refused.status, "message": words, "status": _STATUSES.get(refused.status, usual)}
        return Told(refused.status, json.dumps({"error": error}))


def _head(wish: Wish, answers: Sequence[Answer]) -> Json:
    return {
        "modelVersion": answers[0].model or wish.request.model,
        "responseId": identifier("resp", wish, answers[0]),
    }


def _candidates(answers: Sequence[Answer]) -> Iterator[Json]:
    for index, answer in enumerate(answers):
        parts: list[JsonValue] = [*_parts(answer)] or [{"text": ""}]
        yield {
            "content": {"role": "model", "parts": parts},
            "finishReason": _ENDS.get(answer.finish, "STOP"),
            "index": index,
        }


def _parts(answer: Answer) -> Iterable[Json]:
    if answer.reasoning:
        yield {"text": answer.reasoning, "thought": True}
    if answer.content:
        yield {"text": answer.content}
    for call in answer.tool_calls:
        named: Json = {"id": call.id} if call.id else {}
        yield {"functionCall": {**named, "name": call.name, "args": object_of(call.arguments)}}


def _usage(answers: Sequence[Answer]) -> JsonValue:
    used: Usage = total(answers)
    return {
        "promptTokenCount": used.prompt_tokens,
        "cachedContentTokenCount": used.cached_tokens,
        "candidatesTokenCount": used.completion_tokens,
        "totalTokenCount": used.tokens,
    }
