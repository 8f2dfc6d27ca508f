"""The spelling of the OpenAI-compatible chat interface: messages and tools, in both directions. Pure.

Requests are in ``wire_requests``, replies in ``wire_replies``.
"""

import json
from collections.abc import Iterable, Mapping

from pydantic import JsonValue

from assay.agents.llm.chat import Message, Part, Tool, ToolCall

Json = dict[str, JsonValue]

_THOUGHTS = ("reasoning_content", "reasoning")
"""What servers call the thoughts of a reasoning model."""


class NotOfThisForm(ValueError):
    """A text is not of the interface's form; says which field is wrong."""


def message_out(message: Message) -> Json:
    """Return a message as it is posted."""
    content: JsonValue = message.content if isinstance(message.content, str) else _parts_out(message.content)
    body: Json = {**message.extra, "role": message.role.value, "content": content}
    if message.tool_calls:
        body |= {"content": content or None, "tool_calls": _calls_out(message.tool_calls)}
    given = {"tool_call_id": message.tool_call_id, "name": message.name, "reasoning_content": message.reasoning}
    return body | {key: value for key, value in given.items() if value}


def _parts_out(parts: Iterable[Part]) -> JsonValue:
    return [part.model_dump(mode="json") for part in parts]


def _calls_out(calls: Iterable[ToolCall]) -> JsonValue:
    return [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in calls
    ]


def tool_out(tool: Tool) -> JsonValue:
    """Return a tool as it is posted."""
    function: Json = {"name": tool.name, "parameters": dict(tool.parameters)}
    if tool.description:
        function["description"] = tool.description
    if tool.strict is not None:
        function["strict"] = tool.strict
    return {"type": "function", "function": function}


def message_in(body: JsonValue) -> Message:
    """Read a message; what it holds beyond the interface goes into ``extra``. Raises NotOfThisForm."""
    if not isinstance(body, dict):
        raise NotOfThisForm("a message must be a JSON object")
    rest = {key: value for key, value in body.items() if value is not None}
    thoughts = [rest.pop(name) for name in _THOUGHTS if name in rest]
    calls = tuple(_call_in(call) for call in listed(rest.pop("tool_calls", []), "tool_calls"))
    content = rest.pop("content", "")
    fields = {name: rest.pop(name) for name in ("role", "tool_call_id", "name") if name in rest}
    try:
        return Message.model_validate(
            {
                **fields,
                "content": content if isinstance(content, str) else tuple(listed(content, "content")),
                "tool_calls": calls,
                "reasoning": thoughts[0] if thoughts and isinstance(thoughts[0], str) else "",
                "extra": rest,
            }
        )
    except ValueError as error:
        raise NotOfThisForm(f"a message: {first_wrong(error)}") from error


def _call_in(body: JsonValue) -> ToolCall:
    function = body.get("function") if isinstance(body, dict) else None
    if not isinstance(body, dict) or not isinstance(function, dict):
        raise NotOfThisForm("a tool call has no 'function'")
    arguments = function.get("arguments", "")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)  # some servers send the object itself
    return ToolCall(id=text_of(body, "id"), name=text_of(function, "name"), arguments=text)


def tool_in(body: JsonValue) -> Tool:
    """Read a tool, which must be a function. Raises NotOfThisForm."""
    function = body.get("function") if isinstance(body, dict) else None
    if not isinstance(function, dict):
        raise NotOfThisForm("a tool is no function")
    known = {name: function[name] for name in Tool.model_fields if function.get(name) is not None}
    return Tool.model_validate(known)


def listed(value: JsonValue, name: str) -> list[JsonValue]:
    """Return a field that must be a list. Raises NotOfThisForm."""
    if not isinstance(value, list):
        raise NotOfThisForm(f"field {name} must be a list")
    return value


def text_of(body: Mapping[str, JsonValue], name: str) -> str:
    """Return a field's text; empty if it is none."""
    value = body.get(name)
    return value if isinstance(value, str) else ""


def first_wrong(error: ValueError) -> str:
    """Name the field that is wrong; pydantic's text repeats the input, which may be long."""
    told = getattr(error, "errors", None)
    if told is None:
        return str(error).splitlines()[0]
    first = told(include_url=False, include_input=False)[0]
    return f"field {'.'.join(str(place) for place in first['loc'])}: {first['msg']}"
