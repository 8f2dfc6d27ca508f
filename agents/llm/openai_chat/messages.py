"""Messages and tools of the chat completions API, written and read. Pure."""

import json

from pydantic import JsonValue

from assay.agents.llm.chat import Message, Tool, ToolCall
from assay.agents.llm.json_fields import Json, MalformedBody, describe_invalid, require_list, text_or_empty

_REASONING_FIELDS = ("reasoning_content", "reasoning")
"""Names that servers give to the reasoning of a model."""


def message_to_json(message: Message) -> Json:
    content: JsonValue = message.content if isinstance(message.content, str) else None
    if not isinstance(message.content, str):
        content = [part.model_dump(mode="json") for part in message.content]
    body: Json = {**message.extra, "role": message.role.value, "content": content}
    if message.tool_calls:
        calls: list[JsonValue] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
        body |= {"content": content or None, "tool_calls": calls}
    optional = {"tool_call_id": message.tool_call_id, "name": message.name, "reasoning_content": message.reasoning}
    return body | {name: value for name, value in optional.items() if value}


def tool_to_json(tool: Tool) -> JsonValue:
    function: Json = {"name": tool.name, "parameters": dict(tool.parameters)}
    if tool.description:
        function["description"] = tool.description
    if tool.strict is not None:
        function["strict"] = tool.strict
    return {"type": "function", "function": function}


def message_from_json(body: JsonValue) -> Message:
    """Read a message; fields that the API does not define go into ``extra``. Raises MalformedBody."""
    if not isinstance(body, dict):
        raise MalformedBody("a message must be a JSON object")
    rest = {name: value for name, value in body.items() if value is not None}
    reasoning = [rest.pop(name) for name in _REASONING_FIELDS if name in rest]
    calls = tuple(_call_from_json(call) for call in require_list(rest.pop("tool_calls", []), "tool_calls"))
    content = rest.pop("content", "")
    fields = {name: rest.pop(name) for name in ("role", "tool_call_id", "name") if name in rest}
    try:
        return Message.model_validate(
            {
                **fields,
                "content": content if isinstance(content, str) else tuple(require_list(content, "content")),
                "tool_calls": calls,
                "reasoning": reasoning[0] if reasoning and isinstance(reasoning[0], str) else "",
                "extra": rest,
            }
        )
    except ValueError as error:
        raise MalformedBody(f"a message: {describe_invalid(error)}") from error


def _call_from_json(body: JsonValue) -> ToolCall:
    function = body.get("function") if isinstance(body, dict) else None
    if not isinstance(body, dict) or not isinstance(function, dict):
        raise MalformedBody("a tool call has no 'function'")
    arguments = function.get("arguments", "")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)  # some servers send the object itself
    return ToolCall(id=text_or_empty(body, "id"), name=text_or_empty(function, "name"), arguments=text)


def tool_from_json(body: JsonValue) -> Tool:
    """Read a tool, which must be a function. Raises MalformedBody."""
    function = body.get("function") if isinstance(body, dict) else None
    if not isinstance(function, dict):
        raise MalformedBody("a tool is not a function")
    known = {name: function[name] for name in Tool.model_fields if function.get(name) is not None}
    return Tool.model_validate(known)
