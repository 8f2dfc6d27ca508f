"""Requests of the chat completions API, written and read. Pure."""

from collections.abc import Mapping

from pydantic import JsonValue

from assay.agents.llm.chat import Request, ResponseFormat
from assay.agents.llm.json_fields import Json, MalformedBody, describe_invalid, require_list
from assay.agents.llm.openai_chat.messages import message_from_json, message_to_json, tool_from_json, tool_to_json

_NEVER_SENT = frozenset({"stream", "stream_options", "n"})
_LIMITS = ("max_completion_tokens", "max_tokens")  # new and old name of the same limit
_SAME_NAMES = frozenset({"model", "tool_choice", "temperature", "top_p", "seed"})


def request_to_json(request: Request, *, limit_field: str = "max_tokens") -> Json:
    """Return the body to post, without the sample number; ``limit_field`` is the endpoint's name for ``max_tokens``."""
    body: Json = {name: value for name, value in request.extra.items() if name not in _NEVER_SENT}
    body |= {"model": request.model, "messages": [message_to_json(message) for message in request.messages]}
    optional: dict[str, JsonValue] = {
        "tools": [tool_to_json(tool) for tool in request.tools] or None,
        "tool_choice": dict(request.tool_choice) if isinstance(request.tool_choice, Mapping) else request.tool_choice,
        "temperature": request.temperature,
        "top_p": request.top_p,
        limit_field: request.max_tokens,
        "stop": list(request.stop) or None,
        "seed": request.seed,
        "response_format": request.response_format.model_dump(mode="json") if request.response_format else None,
    }
    return body | {name: value for name, value in optional.items() if value is not None}


def request_from_json(body: JsonValue, *, sample: int = 0) -> Request:
    """Read a posted body; fields that the API does not define go into ``extra``. Raises MalformedBody."""
    if not isinstance(body, dict):
        raise MalformedBody("the body must be a JSON object")
    rest: Json = {name: value for name, value in body.items() if name not in _NEVER_SENT and value is not None}
    limits: list[JsonValue] = [rest.pop(name) for name in _LIMITS if name in rest]
    stop, form = rest.pop("stop", []), rest.pop("response_format", None)
    messages, tools = rest.pop("messages", []), rest.pop("tools", [])
    fields = {name: rest.pop(name) for name in _SAME_NAMES & rest.keys()}
    try:
        return Request.model_validate(
            {
                **fields,
                "messages": tuple(message_from_json(message) for message in require_list(messages, "messages")),
                "tools": tuple(tool_from_json(tool) for tool in require_list(tools, "tools")),
                "response_format": ResponseFormat.model_validate(form) if form else None,
                "max_tokens": limits[0] if limits else None,
                "stop": [stop] if isinstance(stop, str) else stop,
                "sample": sample,
                "extra": rest,
            }
        )
    except MalformedBody:
        raise
    except ValueError as error:
        raise MalformedBody(describe_invalid(error)) from error
