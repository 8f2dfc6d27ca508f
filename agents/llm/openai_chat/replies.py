"""Replies of the chat completions API, written and read. Pure."""

import json
import math
from collections.abc import Iterable, Iterator, Sequence

from pydantic import JsonValue

from assay.agents.llm.chat import Answer, Finish, Part, TokenUsage
from assay.agents.llm.json_fields import Json, NoReply, text_or_empty
from assay.agents.llm.openai_chat.messages import message_from_json, message_to_json


def answer_from_json(reply: JsonValue, wanted: int = 1) -> Answer:
    """Read the first choices of a reply, and its usage (see ``usage_from_json``). Raises NoReply and MalformedBody.

    Prompt and reported cost are the first answer's; several answers share the completion tokens by their lengths.
    """
    if not isinstance(reply, dict):
        raise NoReply("it is not a JSON object")
    choices = reply.get("choices")
    if not isinstance(choices, list) or not choices:
        raise NoReply("it has no 'choices'")
    answers = [_read_choice(choice, text_or_empty(reply, "model")) for choice in choices[:wanted]]
    first, *others = _share(usage_from_json(reply.get("usage")), answers)
    return first.model_copy(update={"others": tuple(others)})


def _read_choice(choice: JsonValue, model: str) -> Answer:
    if not isinstance(choice, dict):
        raise NoReply("it has no 'choices'")
    content = choice.get("message")
    if not isinstance(content, dict):
        raise NoReply("its choice has no 'message'")
    message = message_from_json({**content, "role": "assistant"})
    return Answer(
        content=message.content if isinstance(message.content, str) else _join_texts(message.content),
        tool_calls=message.tool_calls,
        reasoning=message.reasoning,
        finish=_finish(choice.get("finish_reason"), bool(message.tool_calls)),
        model=model,
    )


def _share(usage: TokenUsage, answers: Sequence[Answer]) -> Iterator[Answer]:
    lengths = [1 + len(answer.full_text) for answer in answers]
    ends = [usage.completion_tokens * sum(lengths[: at + 1]) // sum(lengths) for at in range(len(lengths))]
    for number, answer in enumerate(answers):
        own = usage if not number else TokenUsage(cost=None if usage.cost is None else 0.0, estimated=usage.estimated)
        tokens = ends[number] - (ends[number - 1] if number else 0)
        yield answer.model_copy(update={"usage": own.model_copy(update={"completion_tokens": tokens})})


def usage_from_json(usage: JsonValue) -> TokenUsage:
    """Read the field ``usage`` of a reply; without it, all counts are 0 and ``estimated`` is set."""
    if not isinstance(usage, dict):
        return TokenUsage(cost=None, estimated=True)
    details = usage.get("prompt_tokens_details")
    return TokenUsage(
        prompt_tokens=_count(usage.get("prompt_tokens")),
        cached_tokens=_count(details.get("cached_tokens")) if isinstance(details, dict) else 0,
        completion_tokens=_count(usage.get("completion_tokens")),
        cost=_dollars(usage.get("cost")),
        estimated="prompt_tokens" not in usage,
    )


def _dollars(value: JsonValue) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) and value >= 0 else None


def _count(value: JsonValue) -> int:
    return max(value, 0) if isinstance(value, int) else 0


def _finish(reason: JsonValue, calls_tools: bool) -> Finish:
    if reason == "function_call" or (reason == "stop" and calls_tools):  # some servers say "stop" after a tool call
        return Finish.TOOL_CALLS
    return Finish(reason) if isinstance(reason, str) and reason in set(Finish) else Finish.OTHER


def _join_texts(parts: Iterable[Part]) -> str:
    texts = ((part.model_extra or {}).get("text", "") for part in parts)
    return "".join(text for text in texts if isinstance(text, str))


def answers_to_json(answers: Sequence[Answer], model: str) -> Json:
    """Return answers to one question as a reply with one choice for each. Raises ValueError without an answer."""
    choices: list[JsonValue] = [
        {"index": index, "message": message_to_json(answer.make_message()), "finish_reason": answer.finish.value}
        for index, answer in enumerate(answers)
    ]
    return {**_head(answers, model), "object": "chat.completion", "choices": choices, "usage": _usage(answers)}


def answers_to_events(answers: Sequence[Answer], model: str) -> Iterator[str]:
    """Yield the same reply as server-sent events: one for each answer, one with the usage, and ``[DONE]``."""
    head: Json = {**_head(answers, model), "object": "chat.completion.chunk"}
    for index, answer in enumerate(answers):
        delta = message_to_json(answer.make_message())
        calls = delta.get("tool_calls")
        if isinstance(calls, list):
            delta["tool_calls"] = [{"index": at, **call} for at, call in enumerate(calls) if isinstance(call, dict)]
        choice: JsonValue = {"index": index, "delta": delta, "finish_reason": answer.finish.value}
        yield f"data: {json.dumps({**head, 'choices': [choice]})}\n\n"
    yield f"data: {json.dumps({**head, 'choices': [], 'usage': _usage(answers)})}\n\n"
    yield "data: [DONE]\n\n"


def _head(answers: Sequence[Answer], model: str) -> Json:
    if not answers:
        raise ValueError("a reply needs an answer")
    return {"id": "chatcmpl-assay", "created": 0, "model": answers[0].model or model}


def _usage(answers: Sequence[Answer]) -> JsonValue:
    used = sum((answer.usage for answer in answers), TokenUsage())
    return {
        "prompt_tokens": used.prompt_tokens,
        "completion_tokens": used.completion_tokens,
        "total_tokens": used.tokens,
        "prompt_tokens_details": {"cached_tokens": used.cached_tokens},
    }
