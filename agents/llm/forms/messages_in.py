"""Requests as Anthropic's messages interface spells them. Pure.

Passed over: thoughts of earlier answers and how much to think, marks for caching, metadata, ``top_k``. A document is
taken if it is text. Tools that the service itself would run are left out; see ``said.check_tools``.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence

from pydantic import JsonValue

from assay.agents.llm.chat import Message, Part, ResponseFormat, Role, Tool, ToolCall
from assay.agents.llm.forms.base import Wish
from assay.agents.llm.forms.said import (
    check_tools,
    entries,
    entry,
    image_part,
    joined,
    message_of,
    request_of,
    settled,
    text_part,
    word,
)
from assay.agents.llm.wire import Json, NotOfThisForm

_CHOICES = {"auto": "auto", "any": "required", "none": "none"}
_THOUGHTS = frozenset({"thinking", "redacted_thinking"})


def read(body: Json) -> Wish:
    """Read a body of the interface.

    Raises:
        NotOfThisForm: a field has the wrong form, or only tools of the service are asked for.
    """
    told = entries(body.get("tools"), "tools")
    tools = [tool for tool in told if tool.get("type") in (None, "custom")]
    left_out = tuple(str(tool.get("name") or tool.get("type")) for tool in told if tool not in tools)
    check_tools(bool(tools), left_out)
    fields: dict[str, object] = {
        "model": body.get("model"),
        "messages": settled((*_system(body.get("system")), *_conversation(body.get("messages")))),
        "tools": tuple(_tool(tool) for tool in tools),
        "max_tokens": body.get("max_tokens"),
        "temperature": body.get("temperature"),
        "top_p": body.get("top_p"),
        "stop": body.get("stop_sequences") or (),
        "response_format": _answer_form(body),
    }
    if tools and body.get("tool_choice") is not None:
        fields |= _choice(entry(body["tool_choice"], "tool_choice"), [word(tool, "name") for tool in tools])
    return Wish(request_of(fields), is_stream=body.get("stream") is True, left_out=left_out)


def _system(value: JsonValue) -> Iterator[Message]:
    text = value if isinstance(value, str) else joined(word(block, "text") for block in entries(value, "system"))
    if text:
        yield Message(role=Role.SYSTEM, content=text)


def _tool(tool: Json) -> Tool:
    return Tool(
        name=word(tool, "name"),
        description=word(tool, "description") if tool.get("description") else "",
        parameters=entry(tool.get("input_schema"), "input_schema"),
    )


def _choice(choice: Json, names: Sequence[str]) -> dict[str, object]:
    fields: dict[str, object] = {}
    if choice.get("disable_parallel_tool_use") is True:
        fields["extra"] = {"parallel_tool_calls": False}
    kind = word(choice, "type")
    if kind == "tool":
        name = word(choice, "name")
        if name not in names:
            raise NotOfThisForm(f"field tool_choice names {name}, and there is no such tool here")
        return {**fields, "tool_choice": {"type": "function", "function": {"name": name}}}
    if kind not in _CHOICES:
        raise NotOfThisForm(f"field tool_choice cannot be of the type {kind}")
    return {**fields, "tool_choice": _CHOICES[kind]}


def _answer_form(body: Json) -> ResponseFormat | None:
    """Return what form the answer must have; the field has had two names."""
    config = body.get("output_config")
    wanted = config.get("format") if isinstance(config, dict) else body.get("output_format")
    if wanted is None:
        return None
    form = entry(wanted, "output_config")
    if form.get("type") != "json_schema":
        raise NotOfThisForm("an answer's form must be of the type json_schema")
    schema: Json = {"name": "answer", "schema": entry(form.get("schema"), "schema")}
    return ResponseFormat.model_validate({"type": "json_schema", "json_schema": schema})


def _conversation(value: JsonValue) -> Iterator[Message]:
    for message in entries(value, "messages"):
        role, content = word(message, "role"), message.get("content")
        blocks: list[Json] = (
            [{"type": "text", "text": content}] if isinstance(content, str) else entries(content, "content")
        )
        if role == "assistant":
            yield _said(blocks)
        elif role == "user":
            yield from _heard(blocks)
        elif role == "system":
            yield Message(role=Role.SYSTEM, content=joined(word(block, "text") for block in blocks))
        else:
            raise NotOfThisForm("field role must be user, assistant or system")


def _said(blocks: Iterable[Json]) -> Message:
    """Return what the model said: its texts as one, and its calls."""
    texts: list[str] = []
    calls: list[ToolCall] = []
    for block in blocks:
        kind = word(block, "type")
        if kind == "text":
            texts.append(word(block, "text"))
        elif kind == "tool_use":
            arguments = json.dumps(block.get("input") or {}, ensure_ascii=False)
            calls.append(ToolCall(id=word(block, "id"), name=word(block, "name"), arguments=arguments))
        elif kind not in _THOUGHTS:
            raise NotOfThisForm(f"an answer's block of the type {kind} is not known here")
    return Message(role=Role.ASSISTANT, content=joined(texts), tool_calls=tuple(calls))


def _heard(blocks: Iterable[Json]) -> Iterator[Message]:
    """Yield the outcomes of calls, each a message, then the rest as the user's.

    Pictures among outcomes go to the user's message: a chat's message of a tool holds text only.
    """
    rest: list[Part] = []
    for block in blocks:
        if block.get("type") == "tool_result":
            parts = _parts(block.get("content"))
            texts = [part for part in parts if part.type == "text"]
            rest += [part for part in parts if part.type != "text"]
            told = message_of(Role.TOOL, texts)
            yield told.model_copy(update={"tool_call_id": word(block, "tool_use_id")})
        else:
            rest += _parts([block])
    if rest:
        yield message_of(Role.USER, rest)


def _parts(content: JsonValue) -> list[Part]:
    if isinstance(content, str):
        return [text_part(content)]
    return [_PARTS.get(str(block.get("type")), _unknown)(block) for block in entries(content, "content")]


def _text(block: Json) -> Part:
    return text_part(word(block, "text"))


def _image(block: Json) -> Part:
    source = entry(block.get("source"), "source")
    if source.get("type") == "url":
        return image_part(word(source, "url"))
    return image_part(f"data:{word(source, 'media_type')};base64,{word(source, 'data')}")


def _document(block: Json) -> Part:
    source = entry(block.get("source"), "source")
    if source.get("type") != "text":
        raise NotOfThisForm("a document must be of text here")
    return text_part(word(source, "data"))


def _reference(block: Json) -> Part:
    return text_part(f"The tool {word(block, 'tool_name')} is there.")


def _unknown(block: Json) -> Part:
    raise NotOfThisForm(f"a block of the type {block.get('type')} is not known here")


_PARTS: dict[str, Callable[[Json], Part]] = {
    "text": _text,
    "image": _image,
    "document": _document,
    "tool_reference": _reference,
}
