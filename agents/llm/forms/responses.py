"""OpenAI's responses interface: items instead of messages, and a stream that tells each item's growth by name."""

import json
from collections.abc import Iterator, Sequence
from typing import ClassVar

from pydantic import JsonValue

from assay.agents.llm.chat import Answer, Finish, ToolCall, Usage
from assay.agents.llm.forms.base import Ask, Matter, Refused, Route, Told, Wish, bearer
from assay.agents.llm.forms.chat import listed_models
from assay.agents.llm.forms.responses_in import FREE, full_name, read
from assay.agents.llm.forms.said import event, identifier, object_of, total
from assay.agents.llm.wire import Json

_CUT = {Finish.LENGTH: "max_output_tokens", Finish.FILTERED: "content_filter"}


class Responses:
    """``POST /v1/responses`` and the list of models."""

    name: ClassVar[str] = "responses"
    routes: ClassVar[tuple[Route, ...]] = (
        Route("POST", "/v1/responses", Matter.ANSWER),
        Route("GET", "/v1/models", Matter.MODELS),
    )

    def token(self, ask: Ask) -> str:
        """Return the bearer's token."""
        return bearer(ask)

    def wish(self, _ask: Ask, body: Json, /) -> Wish:
        """Read a body; see ``responses_in``."""
        return read(body)

    def reply(self, wish: Wish, answers: Sequence[Answer]) -> Json:
        """Return the one answer as items: its text, then its calls."""
        cut = _CUT.get(answers[0].finish)
        return {
            **_head(wish, answers[0]),
            "status": "incomplete" if cut else "completed",
            "incomplete_details": {"reason": cut} if cut else None,
            "output": list(_items(wish, answers[0])),
            "usage": _usage(total(answers)),
        }

    def events(self, wish: Wish, answers: Sequence[Answer]) -> Iterator[str]:
        """Yield that the answer begins, each item's start, content and end, and the whole."""
        whole = self.reply(wish, answers)
        begun: Json = {**whole, "status": "in_progress", "incomplete_details": None, "output": [], "usage": None}
        told: list[Json] = [{"type": "response.created", "response": begun}]
        told.append({"type": "response.in_progress", "response": begun})
        for index, item in enumerate(_items(wish, answers[0])):
            told += _item_events(index, item)
        told.append({"type": f"response.{whole['status']}", "response": whole})
        for number, each in enumerate(told):
            yield event({**each, "sequence_number": number})

    def count(self, tokens: int) -> Json:
        """Raise NotImplementedError: no such route is served."""
        raise NotImplementedError

    def models(self, names: Sequence[str]) -> Json:
        """Return the list of models."""
        return listed_models(names)

    def refusal(self, refused: Refused) -> Told:
        """Return an error with its code."""
        kind = "invalid_request_error" if refused.status < 500 else "server_error"
        error: Json = {"message": str(refused), "type": kind, "param": None, "code": refused.code}
        return Told(refused.status, json.dumps({"error": error}))


def _head(wish: Wish, answer: Answer) -> Json:
    return {
        "id": identifier("resp", wish, answer),
        "object": "response",
        "created_at": 0,
        "model": answer.model or wish.request.model,
        "error": None,
    }


def _items(wish: Wish, answer: Answer) -> Iterator[Json]:
    if answer.content or not answer.tool_calls:
        part: JsonValue = {"type": "output_text", "text": answer.content, "annotations": []}
        yield {
            "type": "message",
            "id": identifier("msg", wish, answer),
            "role": "assistant",
            "status": "completed",
            "content": [part],
        }
    for number, call in enumerate(answer.tool_calls):
        yield {**_call(call, wish), "id": f"{identifier('fc', wish, answer)}_{number}", "status": "completed"}


def _call(call: ToolCall, wish: Wish) -> Json:
    namespace = wish.namespaces.get(call.name, "")
    name = call.name.removeprefix(full_name(namespace, "")) if namespace else call.name
    named: Json = {"call_id": call.id, "name": name, **({"namespace": namespace} if namespace else {})}
    if call.name not in wish.freeform:
        return {"type": "function_call", **named, "arguments": call.arguments or "{}"}
    told = object_of(call.arguments).get(FREE)
    text = told if isinstance(told, str) else call.arguments  # a model may write the text itself, as the tool has it
    return {"type": "custom_tool_call", **named, "input": text}


def _item_events(index: int, item: Json) -> Iterator[Json]:
    at: Json = {"output_index": index}
    named: Json = {**at, "item_id": item["id"]}
    content = item.get("content")
    grows: list[Json] = []
    begun: Json = {**item, "status": "in_progress"}
    if isinstance(content, list) and isinstance(content[0], dict):
        part, inside = content[0], {**named, "content_index": 0}
        begun["content"] = []
        grows = [
            {"type": "response.content_part.added", **inside, "part": {**part, "text": ""}},
            {"type": "response.output_text.delta", **inside, "delta": part["text"]},
            {"type": "response.output_text.done", **inside, "text": part["text"]},
            {"type": "response.content_part.done", **inside, "part": part},
        ]
    else:
        grows, field = _call_events(item, named)
        begun[field] = ""
    yield {"type": "response.output_item.added", **at, "item": begun}
    yield from grows
    yield {"type": "response.output_item.done", **at, "item": item}


def _call_events(item: Json, named: Json) -> tuple[list[Json], str]:
    """Return how a call's text grows, and the field that holds it."""
    is_free = item["type"] == "custom_tool_call"
    field, kind = ("input", "custom_tool_call_input") if is_free else ("arguments", "function_call_arguments")
    grown: list[Json] = [
        {"type": f"response.{kind}.delta", **named, "delta": item[field]},
        {"type": f"response.{kind}.done", **named, field: item[field]},
    ]
    return grown, field


def _usage(used: Usage) -> Json:
    return {
        "input_tokens": used.prompt_tokens,
        "input_tokens_details": {"cached_tokens": used.cached_tokens},
        "output_tokens": used.completion_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": used.tokens,
    }
