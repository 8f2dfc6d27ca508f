"""Requests of Anthropic's messages API, read. Pure.

Ignored: reasoning of earlier answers, the reasoning budget, cache marks, metadata, ``top_k``. Documents must be text.
Tools that only Anthropic's service can run are left out; see ``common.check_tools_left``.
"""

import json
from collections.abc import Iterable, Iterator, Sequence

from pydantic import JsonValue

from assay.agents.llm.chat import Message, Part, ResponseFormat, Speaker, Tool, ToolCall
from assay.agents.llm.json_fields import Json, MalformedBody, require_object, require_objects, require_text
from assay.agents.llm.proxy.dialects.base import ParsedRequest
from assay.agents.llm.proxy.dialects.common import (
    build_request,
    check_tools_left,
    image_part,
    join_texts,
    merge_system_messages,
    message_from_parts,
    text_part,
)

_TOOL_CHOICES = {"auto": "auto", "any": "required", "none": "none"}
_REASONING = frozenset({"thinking", "redacted_thinking"})


def parse_messages(body: Json) -> ParsedRequest:
    """Raises MalformedBody: a field is wrong, or all tools are ones that only Anthropic's service can run."""
    offered = require_objects(body.get("tools"), "tools")
    tools = [tool for tool in offered if tool.get("type") in (None, "custom")]
    left_out = tuple(str(tool.get("name") or tool.get("type")) for tool in offered if tool not in tools)
    check_tools_left(bool(tools), left_out)
    messages = (*_system(body.get("system")), *_conversation(body.get("messages")))
    fields: dict[str, object] = {
        "model": body.get("model"),
        "messages": merge_system_messages(messages),
        "tools": tuple(_tool(tool) for tool in tools),
        "max_tokens": body.get("max_tokens"),
        "temperature": body.get("temperature"),
        "top_p": body.get("top_p"),
        "stop": body.get("stop_sequences") or (),
        "response_format": _response_format(body),
    }
    if tools and body.get("tool_choice") is not None:
        names = [require_text(tool, "name") for tool in tools]
        fields |= _tool_choice(require_object(body["tool_choice"], "tool_choice"), names)
    return ParsedRequest(build_request(fields), is_stream=body.get("stream") is True, left_out=left_out)


def _system(value: JsonValue) -> Iterator[Message]:
    if not isinstance(value, str):
        value = join_texts(require_text(block, "text") for block in require_objects(value, "system"))
    if value:
        yield Message(role=Speaker.SYSTEM, content=value)


def _tool(tool: Json) -> Tool:
    return Tool(
        name=require_text(tool, "name"),
        description=require_text(tool, "description") if tool.get("description") else "",
        parameters=require_object(tool.get("input_schema"), "input_schema"),
    )


def _tool_choice(choice: Json, names: Sequence[str]) -> dict[str, object]:
    fields: dict[str, object] = {}
    if choice.get("disable_parallel_tool_use") is True:
        fields["extra"] = {"parallel_tool_calls": False}
    kind = require_text(choice, "type")
    if kind == "tool":
        name = require_text(choice, "name")
        if name not in names:
            raise MalformedBody(f"field tool_choice names {name}, which is not among the tools")
        return {**fields, "tool_choice": {"type": "function", "function": {"name": name}}}
    if kind not in _TOOL_CHOICES:
        raise MalformedBody(f"field tool_choice cannot be of the type {kind}")
    return {**fields, "tool_choice": _TOOL_CHOICES[kind]}


def _response_format(body: Json) -> ResponseFormat | None:
    """Read the field ``output_config``, or ``output_format``, its older name."""
    config = body.get("output_config")
    value = config.get("format") if isinstance(config, dict) else body.get("output_format")
    if value is None:
        return None
    form = require_object(value, "output_config")
    if form.get("type") != "json_schema":
        raise MalformedBody("an answer's format must be of the type json_schema")
    schema: Json = {"name": "answer", "schema": require_object(form.get("schema"), "schema")}
    return ResponseFormat.model_validate({"type": "json_schema", "json_schema": schema})


def _conversation(value: JsonValue) -> Iterator[Message]:
    for message in require_objects(value, "messages"):
        role, content = require_text(message, "role"), message.get("content")
        blocks: list[Json] = (
            [{"type": "text", "text": content}] if isinstance(content, str) else require_objects(content, "content")
        )
        if role == "assistant":
            yield _assistant_message(blocks)
        elif role == "user":
            yield from _user_messages(blocks)
        elif role == "system":
            yield Message(role=Speaker.SYSTEM, content=join_texts(require_text(block, "text") for block in blocks))
        else:
            raise MalformedBody("field role must be user, assistant or system")


def _assistant_message(blocks: Iterable[Json]) -> Message:
    texts: list[str] = []
    calls: list[ToolCall] = []
    for block in blocks:
        kind = require_text(block, "type")
        if kind == "text":
            texts.append(require_text(block, "text"))
        elif kind == "tool_use":
            arguments = json.dumps(block.get("input") or {}, ensure_ascii=False)
            calls.append(ToolCall(id=require_text(block, "id"), name=require_text(block, "name"), arguments=arguments))
        elif kind not in _REASONING:
            raise MalformedBody(f"an answer's block of the type {kind} is not supported")
    return Message(role=Speaker.ASSISTANT, content=join_texts(texts), tool_calls=tuple(calls))


def _user_messages(blocks: Iterable[Json]) -> Iterator[Message]:
    """Yield a message for each tool result, then one of the user with the rest.

    Images among the results go into the user's message: in the chat API a tool's message holds text only.
    """
    rest: list[Part] = []
    for block in blocks:
        if block.get("type") == "tool_result":
            parts = _parts(block.get("content"))
            texts = [part for part in parts if part.type == "text"]
            rest += [part for part in parts if part.type != "text"]
            result = message_from_parts(Speaker.TOOL, texts)
            yield result.model_copy(update={"tool_call_id": require_text(block, "tool_use_id")})
        else:
            rest += _parts([block])
    if rest:
        yield message_from_parts(Speaker.USER, rest)


def _parts(content: JsonValue) -> list[Part]:
    if isinstance(content, str):
        return [text_part(content)]
    return [_part(block) for block in require_objects(content, "content")]


def _part(block: Json) -> Part:
    match block.get("type"):
        case "text":
            return text_part(require_text(block, "text"))
        case "image":
            return _image(require_object(block.get("source"), "source"))
        case "document":
            return _document(require_object(block.get("source"), "source"))
        case "tool_reference":
            return text_part(f"The tool {require_text(block, 'tool_name')} is there.")
    raise MalformedBody(f"a block of the type {block.get('type')} is not supported")


def _image(source: Json) -> Part:
    if source.get("type") == "url":
        return image_part(require_text(source, "url"))
    return image_part(f"data:{require_text(source, 'media_type')};base64,{require_text(source, 'data')}")


def _document(source: Json) -> Part:
    if source.get("type") != "text":
        raise MalformedBody("a document must be text")
    return text_part(require_text(source, "data"))
