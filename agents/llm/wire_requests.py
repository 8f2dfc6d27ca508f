"""Requests as the OpenAI-compatible chat interface spells them: written by its client, read by its server. Pure."""

import json
import math
from collections.abc import Mapping

from pydantic import JsonValue

from assay.agents.llm.chat import Request, ResponseFormat
from assay.agents.llm.wire import Json, NotOfThisForm, first_wrong, listed, message_in, message_out, tool_in, tool_out

CHARACTERS_PER_TOKEN = 4
"""Of English and of code, about; used where nobody tells."""

_NEVER_SENT = frozenset({"stream", "stream_options", "n"})
_LIMITS = ("max_completion_tokens", "max_tokens")
"""New and old name of the same limit."""
_AS_THEY_ARE = frozenset({"model", "tool_choice", "temperature", "top_p", "seed"})


def estimate_tokens(text: str) -> int:
    """Guess how many tokens a text has."""
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / CHARACTERS_PER_TOKEN)


def estimate_prompt(request: Request) -> int:
    """Guess how many tokens a request has, with its tools."""
    body = to_body(request)
    return estimate_tokens(json.dumps([body["messages"], body.get("tools")], ensure_ascii=False))


def to_body(request: Request, *, limit_field: str = "max_tokens") -> Json:
    """Return a request as the body to post, without the sample's number.

    Args:
        request: what to ask.
        limit_field: what the endpoint calls the limit of the answer's tokens.
    """
    body: Json = {key: value for key, value in request.extra.items() if key not in _NEVER_SENT}
    body |= {"model": request.model, "messages": [message_out(message) for message in request.messages]}
    wanted: dict[str, JsonValue] = {
        "tools": [tool_out(tool) for tool in request.tools] or None,
        "tool_choice": dict(request.tool_choice) if isinstance(request.tool_choice, Mapping) else request.tool_choice,
        "temperature": request.temperature,
        "top_p": request.top_p,
        limit_field: request.max_tokens,
        "stop": list(request.stop) or None,
        "seed": request.seed,
        "response_format": request.response_format.model_dump(mode="json") if request.response_format else None,
    }
    return body | {key: value for key, value in wanted.items() if value is not None}


def from_body(body: JsonValue, *, sample: int = 0) -> Request:
    """Read a posted body; what it holds beyond the interface goes into ``extra``.

    Raises:
        NotOfThisForm: a field has the wrong form.
    """
    if not isinstance(body, dict):
        raise NotOfThisForm("the body must be a JSON object")
    rest: Json = {key: value for key, value in body.items() if key not in _NEVER_SENT and value is not None}
    limits: list[JsonValue] = [rest.pop(name) for name in _LIMITS if name in rest]
    stop = rest.pop("stop", [])
    fields: Json = {
        "messages": rest.pop("messages", []),
        "tools": rest.pop("tools", []),
        "response_format": rest.pop("response_format", None),
        "max_tokens": limits[0] if limits else None,
        "stop": [stop] if isinstance(stop, str) else stop,
        "sample": sample,
    }
    for name in _AS_THEY_ARE & rest.keys():
        fields[name] = rest.pop(name)
    return _request(fields, rest)


def _request(fields: Json, rest: Json) -> Request:
    messages, tools, form = fields.pop("messages"), fields.pop("tools"), fields.pop("response_format")
    try:
        return Request.model_validate(
            {
                **fields,
                "messages": tuple(message_in(message) for message in listed(messages, "messages")),
                "tools": tuple(tool_in(tool) for tool in listed(tools, "tools")),
                "response_format": ResponseFormat.model_validate(form) if form else None,
                "extra": rest,
            }
        )
    except NotOfThisForm:
        raise
    except ValueError as error:
        raise NotOfThisForm(first_wrong(error)) from error
