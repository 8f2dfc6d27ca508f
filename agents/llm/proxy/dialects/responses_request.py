"""Requests of OpenAI's responses API, read. Pure.

Ignored: reasoning of earlier answers, the reasoning effort, ``store``, ``include``, ``metadata`` and other fields about
how the service keeps or bills an answer. The model sees a freeform tool as a function with one string parameter, and a
tool of a namespace under both names, joined. Tools that only OpenAI's service can run are left out; see
``common.check_tools_left``.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from assay.agents.llm.chat import Message, Part, ResponseFormat, Speaker, Tool, ToolCall
from assay.agents.llm.json_fields import Json, MalformedBody, require_object, require_objects, require_text
from assay.agents.llm.proxy.dialects.base import ParsedRequest
from assay.agents.llm.proxy.dialects.common import (
    build_request,
    check_tools_left,
    image_part,
    merge_system_messages,
    message_from_parts,
    text_part,
)

FREEFORM_FIELD = "input"  # the only parameter of a function that stands for a freeform tool
_ROLES = {"user": Speaker.USER, "assistant": Speaker.ASSISTANT, "system": Speaker.SYSTEM, "developer": Speaker.SYSTEM}
_TOOL_CHOICES = frozenset({"auto", "none", "required"})
_TEXT_PARTS = frozenset({"input_text", "output_text", "text", "refusal"})
_TOOL_TYPES = frozenset({"function", "custom"})
_TOOLS_ITEM = "additional_tools"
_SKIPPED_ITEMS = frozenset({"reasoning", _TOOLS_ITEM})
_CALL_ITEMS = frozenset({"function_call", "custom_tool_call"})
_RESULT_ITEMS = frozenset({"function_call_output", "custom_tool_call_output"})
_STATEFUL_FIELDS = ("previous_response_id", "conversation", "prompt")


def parse_responses(body: Json) -> ParsedRequest:
    """Raises MalformedBody: a field is wrong, refers to state that the service would keep, or only OpenAI's service can
    run the tools.
    """
    for field in _STATEFUL_FIELDS:
        if body.get(field) is not None:
            raise MalformedBody(f"field {field}: the proxy keeps nothing between requests; send the whole input")
    all_tools = list(_list_tools(body))
    tools = [tool for tool in all_tools if tool.body.get("type") in _TOOL_TYPES]
    left_out = tuple(tool.label for tool in all_tools if tool not in tools)
    check_tools_left(bool(tools), left_out)
    messages = (*_instructions(body.get("instructions")), *_merge_calls(_conversation(body.get("input"))))
    fields: dict[str, object] = {
        "model": body.get("model"),
        "messages": merge_system_messages(messages),
        "tools": tuple(_tool(tool) for tool in tools),
        "max_tokens": body.get("max_output_tokens"),
        "temperature": body.get("temperature"),
        "top_p": body.get("top_p"),
        "response_format": _response_format(body.get("text")),
    }
    if tools:
        fields["tool_choice"] = _tool_choice(body.get("tool_choice"), [tool.name for tool in tools])
        if isinstance(body.get("parallel_tool_calls"), bool):
            fields["extra"] = {"parallel_tool_calls": body["parallel_tool_calls"]}
    return ParsedRequest(
        build_request(fields),
        is_stream=body.get("stream") is True,
        freeform=frozenset(tool.name for tool in tools if tool.body.get("type") == "custom"),
        namespaces={tool.name: tool.namespace for tool in tools if tool.namespace},
        left_out=left_out,
    )


@dataclass(frozen=True, slots=True)
class _OfferedTool:
    """A tool of a request, alone or in a namespace."""

    body: Json
    namespace: str = ""

    @property
    def name(self) -> str:
        """Name that the model sees. Raises MalformedBody if the tool has none."""
        return join_name(self.namespace, require_text(self.body, "name"))

    @property
    def label(self) -> str:
        """Name or type, for tools of any kind."""
        return str(self.body.get("name") or self.body.get("type"))


def join_name(namespace: JsonValue, name: str) -> str:
    """Return the name of a tool as the model sees it; ``namespace`` may be empty or None."""
    return f"{namespace}__{name}" if namespace else name


def _list_tools(body: Json) -> Iterator[_OfferedTool]:
    """Yield the tools of a body, those of namespaces one by one; some clients send tools in an item of the input."""
    bodies = require_objects(body.get("tools"), "tools")
    items = body.get("input")
    for item in items if isinstance(items, list) else []:
        if isinstance(item, dict) and item.get("type") == _TOOLS_ITEM:
            bodies += require_objects(item.get("tools"), "tools")
    for tool in bodies:
        if tool.get("type") == "namespace":
            inner = require_objects(tool.get("tools"), "tools")
            yield from (_OfferedTool(each, require_text(tool, "name")) for each in inner)
        else:
            yield _OfferedTool(tool)


def _instructions(value: JsonValue) -> Iterator[Message]:
    if isinstance(value, str) and value:
        yield Message(role=Speaker.SYSTEM, content=value)


def _tool(tool: _OfferedTool) -> Tool:
    body = tool.body
    description = require_text(body, "description") if body.get("description") else ""
    if body.get("type") == "custom":
        return _freeform_tool(tool.name, description, body.get("format"))
    strict = body.get("strict")
    return Tool(
        name=tool.name,
        description=description,
        parameters=require_object(body.get("parameters") or {}, "parameters"),
        strict=strict if isinstance(strict, bool) else None,
    )


def _freeform_tool(name: str, description: str, form: JsonValue) -> Tool:
    """Return a freeform tool as a function; the grammar of its text, if any, goes into the description."""
    if isinstance(form, dict) and form.get("type") == "grammar":
        grammar = require_text(form, "definition")
        description += f"\n\nThe text must follow this grammar ({form.get('syntax')}):\n{grammar}"
    properties: Json = {FREEFORM_FIELD: {"type": "string", "description": "the text"}}
    parameters: Json = {
        "type": "object",
        "properties": properties,
        "required": [FREEFORM_FIELD],
        "additionalProperties": False,
    }
    return Tool(name=name, description=description.strip(), parameters=parameters)


def _tool_choice(choice: JsonValue, names: Sequence[str]) -> object:
    if choice is None or (isinstance(choice, str) and choice in _TOOL_CHOICES):
        return choice
    wanted = require_object(choice, "tool_choice")
    name = join_name(wanted.get("namespace"), str(wanted.get("name") or ""))
    if wanted.get("type") not in _TOOL_TYPES or name not in names:
        raise MalformedBody(f"field tool_choice names {name or wanted.get('type')}, which is not among the tools")
    return {"type": "function", "function": {"name": name}}


def _response_format(text: JsonValue) -> ResponseFormat | None:
    form = text.get("format") if isinstance(text, dict) else None
    if not isinstance(form, dict) or form.get("type") == "text":
        return None
    if form.get("type") == "json_schema":
        schema = {name: value for name, value in form.items() if name != "type" and value is not None}
        return ResponseFormat.model_validate({"type": "json_schema", "json_schema": schema})
    return ResponseFormat(type=require_text(form, "type"))


def _conversation(value: JsonValue) -> Iterator[Message]:
    """Yield a message for each item, except reasoning and lists of tools.

    Images in tool results follow in a message of the user after the last result of the turn: in the chat API a tool's
    message holds text only, and the results of a turn must be adjacent.
    """
    if isinstance(value, str):
        yield Message(role=Speaker.USER, content=value)
        return
    images: list[Part] = []
    for item in require_objects(value, "input"):
        kind = item.get("type", "message")
        if kind in _RESULT_ITEMS:
            yield _tool_result(item, images)
        elif kind not in _SKIPPED_ITEMS:
            yield from _take_images(images)
            yield _item(item, kind)
    yield from _take_images(images)


def _take_images(images: list[Part]) -> Iterator[Message]:
    if images:
        yield Message(role=Speaker.USER, content=tuple(images))
        images.clear()


def _item(item: Json, kind: JsonValue) -> Message:
    if kind == "message":
        return _message(item)
    if kind in _CALL_ITEMS:
        return Message(role=Speaker.ASSISTANT, tool_calls=(_call(item),))
    raise MalformedBody(f"field input: an item of the type {kind} is not supported")


def _message(item: Json) -> Message:
    role = require_text(item, "role")
    if role not in _ROLES:
        raise MalformedBody(f"field role cannot be {role}")
    return message_from_parts(_ROLES[role], _parts(item.get("content")))


def _call(item: Json) -> ToolCall:
    if item.get("type") == "custom_tool_call":
        arguments = json.dumps({FREEFORM_FIELD: require_text(item, "input")}, ensure_ascii=False)
    else:
        arguments = require_text(item, "arguments")
    name = join_name(item.get("namespace"), require_text(item, "name"))
    return ToolCall(id=require_text(item, "call_id"), name=name, arguments=arguments)


def _tool_result(item: Json, images: list[Part]) -> Message:
    """Return the result's text as a message and add its other parts to ``images``."""
    parts = _parts(item.get("output"))
    images += [part for part in parts if part.type != "text"]
    result = message_from_parts(Speaker.TOOL, [part for part in parts if part.type == "text"])
    return result.model_copy(update={"tool_call_id": require_text(item, "call_id")})


def _parts(content: JsonValue) -> list[Part]:
    if isinstance(content, str):
        return [text_part(content)]
    return [_part(each) for each in require_objects(content, "content")]


def _part(part: Json) -> Part:
    kind = part.get("type")
    if kind in _TEXT_PARTS:
        return text_part(require_text(part, "refusal" if kind == "refusal" else "text"))
    if kind == "input_image" and isinstance(part.get("image_url"), str):
        return image_part(require_text(part, "image_url"))
    raise MalformedBody(f"a part of the type {kind} is not supported")


def _merge_calls(messages: Iterable[Message]) -> Iterator[Message]:
    """Merge an answer's text and the tool calls after it into one message, as the chat API has them."""
    last: Message | None = None
    for message in messages:
        if last is not None and message.tool_calls and last.role is Speaker.ASSISTANT:
            last = last.model_copy(update={"tool_calls": last.tool_calls + message.tool_calls})
            continue
        if last is not None:
            yield last
        last = message
    if last is not None:
        yield last
