"""Replies as the OpenAI-compatible chat interface spells them: read by its client, written by its server. Pure."""

import json
import math
from collections.abc import Iterable, Iterator, Sequence

from pydantic import JsonValue

from assay.agents.llm.chat import Answer, Finish, Part, Usage
from assay.agents.llm.wire import Json, NotOfThisForm, message_in, message_out, text_of


def to_answer(reply: JsonValue) -> Answer:
    """Read an endpoint's reply: its first choice, and the usage if it tells one (else ``usage.estimated`` with zeros).

    Raises:
        NotOfThisForm: it is no reply of a chat model.
    """
    if not isinstance(reply, dict):
        raise NotOfThisForm("it is no JSON object")
    choices = reply.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise NotOfThisForm("it has no 'choices'")
    said = choices[0].get("message")
    if not isinstance(said, dict):
        raise NotOfThisForm("its choice has no 'message'")
    message = message_in({**said, "role": "assistant"})
    return Answer(
        content=message.content if isinstance(message.content, str) else _all_text(message.content),
        tool_calls=message.tool_calls,
        reasoning=message.reasoning,
        finish=_finish(choices[0].get("finish_reason"), bool(message.tool_calls)),
        model=text_of(reply, "model"),
        usage=read_usage(reply.get("usage")),
    )


def read_usage(told: JsonValue) -> Usage:
    """Read what an endpoint tells of tokens, and some of the cost; ``estimated`` if it tells nothing."""
    if not isinstance(told, dict):
        return Usage(cost=None, estimated=True)
    details = told.get("prompt_tokens_details")
    return Usage(
        prompt_tokens=_count(told.get("prompt_tokens")),
        cached_tokens=_count(details.get("cached_tokens")) if isinstance(details, dict) else 0,
        completion_tokens=_count(told.get("completion_tokens")),
        cost=_dollars(told.get("cost")),
        estimated="prompt_tokens" not in told,
    )


def _dollars(value: JsonValue) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) and value >= 0 else None


def _count(value: JsonValue) -> int:
    return max(value, 0) if isinstance(value, int) else 0


def _finish(told: JsonValue, calls_tools: bool) -> Finish:
    if told == "function_call" or (told == "stop" and calls_tools):  # some servers say "stop" after a tool call
        return Finish.TOOL_CALLS
    return Finish(told) if isinstance(told, str) and told in set(Finish) else Finish.OTHER


def _all_text(parts: Iterable[Part]) -> str:
    texts = ((part.model_extra or {}).get("text", "") for part in parts)
    return "".join(text for text in texts if isinstance(text, str))


def to_reply(answers: Sequence[Answer], model: str) -> Json:
    """Return answers to one question as the reply of a server, one choice each.

    Raises:
        ValueError: there is no answer.
    """
    choices: list[JsonValue] = [
        {"index": index, "message": _said(answer), "finish_reason": answer.finish.value}
        for index, answer in enumerate(answers)
    ]
    return {**_head(answers, model), "object": "chat.completion", "choices": choices, "usage": _usage_out(answers)}


def to_events(answers: Sequence[Answer], model: str) -> Iterator[str]:
    """Yield the same reply as server-sent events, for clients that insist on a stream: an event for each answer."""
    head: Json = {**_head(answers, model), "object": "chat.completion.chunk"}
    for index, answer in enumerate(answers):
        delta = _said(answer)
        calls = delta.get("tool_calls")
        if isinstance(calls, list):
            delta["tool_calls"] = [{"index": at, **call} for at, call in enumerate(calls) if isinstance(call, dict)]
        choice: JsonValue = {"index": index, "delta": delta, "finish_reason": answer.finish.value}
        yield f"data: {json.dumps({**head, 'choices': [choice]})}\n\n"
    yield f"data: {json.dumps({**head, 'choices': [], 'usage': _usage_out(answers)})}\n\n"
    yield "data: [DONE]\n\n"


def _head(answers: Sequence[Answer], model: str) -> Json:
    if not answers:
        raise ValueError("a reply needs an answer")
    return {"id": "chatcmpl-assay", "created": 0, "model": answers[0].model or model}


def _said(answer: Answer) -> Json:
    return message_out(answer.as_message())


def _usage_out(answers: Sequence[Answer]) -> JsonValue:
    used = sum((answer.usage for answer in answers[1:]), answers[0].usage)
    return {
        "prompt_tokens": used.prompt_tokens,
        "completion_tokens": used.completion_tokens,
        "total_tokens": used.tokens,
        "prompt_tokens_details": {"cached_tokens": used.cached_tokens},
    }
