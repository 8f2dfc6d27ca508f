"""Requests as OpenAI's responses interface spells them. Pure.

Passed over: thoughts of earlier answers and how much to think, ``store``, ``include``, ``metadata`` and what else tells
the service how to keep or to bill an answer. A tool of free text is shown as a function of one text; tools that
the service itself would run are left out, see ``said.check_tools``.
"""

import json
from collections.abc import Iterable, Iterator, Sequence

from pydantic import JsonValue

from assay.agents.llm.chat import Message, Part, ResponseFormat, Role, Tool, ToolCall
from assay.agents.llm.forms.base import Wish
from assay.agents.llm.forms.said import (
    check_tools,
    entries,
    entry,
    image_part,
    message_of,
    request_of,
    settled,
    text_part,
    word,
)
from assay.agents.llm.wire import Json, NotOfThisForm

FREE = "input"
"""The one field of a function that stands for a tool of free text."""
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM, "developer": Role.SYSTEM}
_CHOICES = frozenset({"auto", "none", "required"})
_TEXTS = frozenset({"input_text", "output_text", "text", "refusal"})
_CALLS = frozenset({"function_call", "custom_tool_call"})
_OUTCOMES = frozenset({"function_call_output", "custom_tool_call_output"})


def read(body: Json) -> Wish:
    """Read a body of the interface.

    Raises:
        NotOfThisForm: a field has the wrong form, refers to what an earlier request left with the service, or only
            tools of the service are asked for.
    """
    for field in ("previous_response_id", "conversation", "prompt"):
        if body.get(field) is not None:
            raise NotOfThisForm(f"field {field}: nothing is kept here between requests; send the whole input")
    told = entries(body.get("tools"), "tools")
    tools = [tool for tool in told if tool.get("type") in ("function", "custom")]
    left_out = tuple(str(tool.get("name") or tool.get("type")) for tool in told if tool not in tools)
    check_tools(bool(tools), left_out)
    fields: dict[str, object] = {
        "model": body.get("model"),
        "messages": settled((*_instructions(body.get("instructions")), *_gathered(_conversation(body.get("input"))))),
        "tools": tuple(_tool(tool) for tool in tools),
        "max_tokens": body.get("max_output_tokens"),
        "temperature": body.get("temperature"),
        "top_p": body.get("top_p"),
        "response_format": _answer_form(body.get("text")),
    }
    if tools:
        fields["tool_choice"] = _choice(body.get("tool_choice"), [word(tool, "name") for tool in tools])
        if isinstance(body.get("parallel_tool_calls"), bool):
            fields["extra"] = {"parallel_tool_calls": body["parallel_tool_calls"]}
    freeform = frozenset(word(tool, "name") for tool in tools if tool.get("type") == "custom")
    return Wish(request_of(fields), is_stream=body.get("stream") is True, freeform=freeform, left_out=left_out)


def _instructions(value: JsonValue) -> Iterator[Message]:
    if isinstance(value, str) and value:
        yield Message(role=Role.SYSTEM, content=value)


def _tool(tool: Json) -> Tool:
    description = word(tool, "description") if tool.get("description") else ""
    if tool.get("type") == "custom":
        return _free_tool(word(tool, "name"), description, tool.get("format"))
    strict = tool.get("strict")
    return Tool(
        name=word(tool, "name"),
        description=description,
        parameters=entry(tool.get("parameters") or {}, "parameters"),
        strict=strict if isinstance(strict, bool) else None,
    )


def _free_tool(name: str, description: str, form: JsonValue) -> Tool:
    """Return a tool of free text as a function; a grammar that its text must follow goes into the description."""
    if isinstance(form, dict) and form.get("type") == "grammar":
        description += f"\n\nThe text must follow this grammar ({form.get('syntax')}):\n{word(form, 'definition')}"
    field: Json = {FREE: {"type": "string", "description": "the text"}}
    parameters: Json = {"type": "object", "properties": field, "required": [FREE], "additionalProperties": False}
    return Tool(name=name, description=description.strip(), parameters=parameters)


def _choice(choice: JsonValue, names: Sequence[str]) -> object:
    if choice is None or (isinstance(choice, str) and choice in _CHOICES):
        return choice
    wanted = entry(choice, "tool_choice")
    name = wanted.get("name")
    if wanted.get("type") not in ("function", "custom") or name not in names:
        told = name or wanted.get("type")
        raise NotOfThisForm(f"field tool_choice names {told}, and there is no such tool here")
    return {"type": "function", "function": {"name": name}}


def _answer_form(text: JsonValue) -> ResponseFormat | None:
    form = text.get("format") if isinstance(text, dict) else None
    if not isinstance(form, dict) or form.get("type") == "text":
        return None
    if form.get("type") == "json_schema":
        schema = {name: value for name, value in form.items() if name != "type" and value is not None}
        return ResponseFormat.model_validate({"type": "json_schema", "json_schema": schema})
    return ResponseFormat(type=word(form, "type"))


def _conversation(value: JsonValue) -> Iterator[Message]:
    """Yield a message for each item but thoughts.

    Pictures that came out of calls follow as the user's once all outcomes are told: a chat's message of a tool holds
    text only, and it wants these messages together.
    """
    if isinstance(value, str):
        yield Message(role=Role.USER, content=value)
        return
    pictures: list[Part] = []
    for item in entries(value, "input"):
        kind = item.get("type", "message")
        if kind in _OUTCOMES:
            yield _outcome(item, pictures)
        elif kind != "reasoning":
            yield from _shown(pictures)
            yield _item(item, kind)
    yield from _shown(pictures)


def _shown(pictures: list[Part]) -> Iterator[Message]:
    if pictures:
        yield Message(role=Role.USER, content=tuple(pictures))
        pictures.clear()


def _item(item: Json, kind: JsonValue) -> Message:
    if kind == "message":
        return _message(item)
    if kind in _CALLS:
        return Message(role=Role.ASSISTANT, tool_calls=(_call(item),))
    raise NotOfThisForm(f"field input: an item of the type {kind} is not known here")


def _message(item: Json) -> Message:
    role = word(item, "role")
    if role not in _ROLES:
        raise NotOfThisForm(f"field role cannot be {role}")
    return message_of(_ROLES[role], _parts(item.get("content")))


def _call(item: Json) -> ToolCall:
    if item.get("type") == "custom_tool_call":
        arguments = json.dumps({FREE: word(item, "input")}, ensure_ascii=False)
    else:
        arguments = word(item, "arguments")
    return ToolCall(id=word(item, "call_id"), name=word(item, "name"), arguments=arguments)


def _outcome(item: Json, pictures: list[Part]) -> Message:
    parts = _parts(item.get("output"))
    pictures += [part for part in parts if part.type != "text"]
    told = message_of(Role.TOOL, [part for part in parts if part.type == "text"])
    return told.model_copy(update={"tool_call_id": word(item, "call_id")})


def _parts(content: JsonValue) -> list[Part]:
    if isinstance(content, str):
        return [text_part(content)]
    return [_part(each) for each in entries(content, "content")]


def _part(part: Json) -> Part:
    kind = part.get("type")
    if kind in _TEXTS:
        return text_part(word(part, "refusal" if kind == "refusal" else "text"))
    if kind == "input_image" and isinstance(part.get("image_url"), str):
        return image_part(word(part, "image_url"))
    raise NotOfThisForm(f"a part of the type {kind} is not known here")


def _gathered(messages: Iterable[Message]) -> Iterator[Message]:
    """Join what is one message in a chat: what the model said, and the calls after it."""
    last: Message | None = None
    for message in messages:
        if last is not None and message.tool_calls and last.role is Role.ASSISTANT:
            last = last.model_copy(update={"tool_calls": last.tool_calls + message.tool_calls})
            continue
        if last is not None:
            yield last
        last = message
    if last is not None:
        yield last
