"""OpenAI's responses API: items instead of messages, and a stream of named events for the growth of each item."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from pydantic import JsonValue

from assay.agents.llm.chat import Answer, Finish, TokenUsage, ToolCall
from assay.agents.llm.json_fields import Json
from assay.agents.llm.proxy.dialects.base import ApiError, HttpRequest, ParsedRequest, Route, RouteKind
from assay.agents.llm.proxy.dialects.common import OpenAiDialect, answer_id, arguments_object, format_event, total_usage
from assay.agents.llm.proxy.dialects.responses_request import FREEFORM_FIELD, join_name, parse_responses

_INCOMPLETE_REASONS = {Finish.LENGTH: "max_output_tokens", Finish.FILTERED: "content_filter"}


class Responses(OpenAiDialect):
    """``POST /v1/responses`` and the list of models."""

    name: ClassVar[str] = "responses"
    routes: ClassVar[tuple[Route, ...]] = (
        Route("POST", "/v1/responses", RouteKind.ANSWER),
        Route("GET", "/v1/models", RouteKind.MODELS),
    )

    def parse(self, _request: HttpRequest, body: Json, /) -> ParsedRequest:
        return parse_responses(body)

    def reply(self, parsed: ParsedRequest, answers: Sequence[Answer]) -> Json:
        incomplete = _INCOMPLETE_REASONS.get(answers[0].finish)
        return {
            **_head(parsed, answers[0]),
            "status": "incomplete" if incomplete else "completed",
            "incomplete_details": {"reason": incomplete} if incomplete else None,
            "output": list(_items(parsed, answers[0])),
            "usage": _usage(total_usage(answers)),
        }

    def events(self, parsed: ParsedRequest, answers: Sequence[Answer]) -> Iterator[str]:
        whole = self.reply(parsed, answers)
        started: Json = {**whole, "status": "in_progress", "incomplete_details": None, "output": [], "usage": None}
        events: list[Json] = [{"type": "response.created", "response": started}]
        events.append({"type": "response.in_progress", "response": started})
        for index, item in enumerate(_items(parsed, answers[0])):
            events += _item_events(index, item)
        events.append({"type": f"response.{whole['status']}", "response": whole})
        for number, event in enumerate(events):
            yield format_event({**event, "sequence_number": number})

    def error_body(self, error: ApiError) -> Json:
        kind = "invalid_request_error" if error.status < 500 else "server_error"
        return {"error": {"message": str(error), "type": kind, "param": None, "code": error.code}}


def _head(parsed: ParsedRequest, answer: Answer) -> Json:
    return {
        "id": answer_id("resp", parsed, answer),
        "object": "response",
        "created_at": 0,
        "model": answer.model or parsed.request.model,
        "error": None,
    }


def _items(parsed: ParsedRequest, answer: Answer) -> Iterator[Json]:
    if answer.content or not answer.tool_calls:
        part: JsonValue = {"type": "output_text", "text": answer.content, "annotations": []}
        yield {
            "type": "message",
            "id": answer_id("msg", parsed, answer),
            "role": "assistant",
            "status": "completed",
            "content": [part],
        }
    for number, call in enumerate(answer.tool_calls):
        identifier = f"{answer_id('fc', parsed, answer)}_{number}"
        yield {**_call(call, parsed), "id": identifier, "status": "completed"}


def _call(call: ToolCall, parsed: ParsedRequest) -> Json:
    namespace = parsed.namespaces.get(call.name, "")
    name = call.name.removeprefix(join_name(namespace, "")) if namespace else call.name
    item: Json = {"call_id": call.id, "name": name, **({"namespace": namespace} if namespace else {})}
    if call.name not in parsed.freeform:
        return {"type": "function_call", **item, "arguments": call.arguments or "{}"}
    value = arguments_object(call.arguments).get(FREEFORM_FIELD)
    text = value if isinstance(value, str) else call.arguments  # a model may write the plain text itself
    return {"type": "custom_tool_call", **item, "input": text}


def _item_events(index: int, item: Json) -> Iterator[Json]:
    at: Json = {"output_index": index}
    in_item: Json = {**at, "item_id": item["id"]}
    content = item.get("content")
    growth: list[Json] = []
    started: Json = {**item, "status": "in_progress"}
    if isinstance(content, list) and isinstance(content[0], dict):
        part, in_part = content[0], {**in_item, "content_index": 0}
        started["content"] = []
        growth = [
            {"type": "response.content_part.added", **in_part, "part": {**part, "text": ""}},
            {"type": "response.output_text.delta", **in_part, "delta": part["text"]},
            {"type": "response.output_text.done", **in_part, "text": part["text"]},
            {"type": "response.content_part.done", **in_part, "part": part},
        ]
    else:
        growth, field = _call_events(item, in_item)
        started[field] = ""
    yield {"type": "response.output_item.added", **at, "item": started}
    yield from growth
    yield {"type": "response.output_item.done", **at, "item": item}


def _call_events(item: Json, in_item: Json) -> tuple[list[Json], str]:
    """Return the events for a tool call's input, and the field that holds the input."""
    is_freeform = item["type"] == "custom_tool_call"
    field, kind = ("input", "custom_tool_call_input") if is_freeform else ("arguments", "function_call_arguments")
    events: list[Json] = [
        {"type": f"response.{kind}.delta", **in_item, "delta": item[field]},
        {"type": f"response.{kind}.done", **in_item, field: item[field]},
    ]
    return events, field


def _usage(used: TokenUsage) -> Json:
    return {
        "input_tokens": used.prompt_tokens,
        "input_tokens_details": {"cached_tokens": used.cached_tokens},
        "output_tokens": used.completion_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": used.tokens,
    }
