"""Requests as OpenAI's responses interface spells them. Pure.

Passed over: thoughts of earlier answers and how much to think, ``store``, ``include``, ``metadata`` and what else tells
the service how to keep or to bill an answer. A tool of free text is shown as a function of one text, a tool in a
namespace under both names; tools that the service itself would run are left out, see ``said.check_tools``.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

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
_KNOWN = frozenset({"function", "custom"})
_TOOLS = "additional_tools"
_NO_WORDS = frozenset({"reasoning", _TOOLS})
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
    told = list(_offers(body))
    offers = [offer for offer in told if offer.tool.get("type") in _KNOWN]
    left_out = tuple(offer.label for offer in told if offer not in offers)
    check_tools(bool(offers), left_out)
    fields: dict[str, object] = {
        "model": body.get("model"),
        "messages": settled((*_instructions(body.get("instructions")), *_gathered(_conversation(body.get("input"))))),
        "tools": tuple(_tool(offer) for offer in offers),
        "max_tokens": body.get("max_output_tokens"),
        "temperature": body.get("temperature"),
        "top_p": body.get("top_p"),
        "response_format": _answer_form(body.get("text")),
    }
    if offers:
        fields["tool_choice"] = _choice(body.get("tool_choice"), [offer.name for offer in offers])
        if isinstance(body.get("parallel_tool_calls"), bool):
            fields["extra"] = {"parallel_tool_calls": body["parallel_tool_calls"]}
    return Wish(
        request_of(fields),
        is_stream=body.get("stream") is True,
        freeform=frozenset(offer.name for offer in offers if offer.tool.get("type") == "custom"),
        namespaces={offer.name: offer.namespace for offer in offers if offer.namespace},
        left_out=left_out,
    )


@dataclass(frozen=True, slots=True)
class _Offer:
    """A tool as it is offered: alone, or in a namespace."""

    tool: Json
    namespace: str = ""

    @property
    def name(self) -> str:
        """Return what the model is shown; raises NotOfThisForm without a name."""
        return full_name(self.namespace, word(self.tool, "name"))

    @property
    def label(self) -> str:
        """Return what it is called, whatever it is."""
        return str(self.tool.get("name") or self.tool.get("type"))


def full_name(namespace: JsonValue, name: str) -> str:
    """Return the name that the model is shown for a tool; the namespace may be none."""
    return f"{namespace}__{name}" if namespace else name


def _offers(body: Json) -> Iterator[_Offer]:
    """Yield the tools of a body, those of namespaces one by one; some programs offer them in an item of the input."""
    told = entries(body.get("tools"), "tools")
    items = body.get("input")
    for item in items if isinstance(items, list) else []:
        if isinstance(item, dict) and item.get("type") == _TOOLS:
            told = [*told, *entries(item.get("tools"), "tools")]
    for tool in told:
        if tool.get("type") == "namespace":
            inner = entries(tool.get("tools"), "tools")
            yield from (_Offer(each, word(tool, "name")) for each in inner)
        else:
            yield _Offer(tool)


def _instructions(value: JsonValue) -> Iterator[Message]:
    if isinstance(value, str) and value:
        yield Message(role=Role.SYSTEM, content=value)


def _tool(offer: _Offer) -> Tool:
    tool = offer.tool
    description = word(tool, "description") if tool.get("description") else ""
    if tool.get("type") == "custom":
        return _free_tool(offer.name, description, tool.get("format"))
    strict = tool.get("strict")
    return Tool(
        name=offer.name,
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
    name = full_name(wanted.get("namespace"), str(wanted.get("name") or ""))
    if wanted.get("type") not in _KNOWN or name not in names:
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
    """Yield a message for each item but thoughts and offers of tools.

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
        elif kind not in _NO_WORDS:
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
    name = full_name(item.get("namespace"), word(item, "name"))
    return ToolCall(id=word(item, "call_id"), name=name, arguments=arguments)


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
