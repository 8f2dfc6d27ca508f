"""Requests of Google's generateContent API, read. Pure.

Function calls often have no ids: a result belongs to the first call of its name in the turn before that has no result
yet. Adjacent contents of one role are one turn, because the chat API wants a call's result directly after the call.

Ignored, because only Google's models know them: ``topK``, ``thinkingConfig``, ``safetySettings``, thought signatures.
Field names may be in camelCase or snake_case, as with Google's servers.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby

from pydantic import JsonValue

from assay.agents.llm.chat import JSON_MODE, Message, Part, ResponseFormat, Speaker, Tool, ToolCall
from assay.agents.llm.json_fields import (
    Json,
    MalformedBody,
    require_list,
    require_object,
    require_objects,
    require_text,
    text_or_empty,
)
from assay.agents.llm.proxy.dialects.base import ParsedRequest, sample_count
from assay.agents.llm.proxy.dialects.common import (
    build_request,
    check_tools_left,
    image_part,
    message_from_parts,
    text_part,
)

_ROLES = {"user", "function", "model"}
_GENERATED_ID = "call_{}"
_MODES = {"MODE_UNSPECIFIED": "auto", "AUTO": "auto", "VALIDATED": "auto", "ANY": "required", "NONE": "none"}
_PART_METADATA = {
    "thought",
    "thoughtSignature",
    "thought_signature",
    "partMetadata",
    "videoMetadata",
    "mediaResolution",
}
"""A part with these fields only has no content."""
_CALL_FIELDS = {"functionCall", "function_call"}


def parse_gemini(model: str, body: Json, *, is_stream: bool = False) -> ParsedRequest:
    """Read a posted body, of a question or of a token count; the path names the model and asks for a stream.

    Raises MalformedBody: a field is wrong, or needs state or tools that only Google's service has.
    """
    body = _object(body, "generateContentRequest") or body
    if _field(body, "cachedContent") is not None:
        raise MalformedBody("field cachedContent: the proxy keeps nothing between requests; send the contents")
    config = _object(body, "generationConfig")
    tools, left_out = _tools(body)
    check_tools_left(bool(tools), left_out)
    tools, choice = _callable_tools(tools, _object(_object(body, "toolConfig"), "functionCallingConfig"))
    fields = {
        "model": model,
        "messages": tuple(_messages(body)),
        "tools": tools,
        "tool_choice": choice,
        "temperature": _field(config, "temperature"),
        "top_p": _field(config, "topP"),
        "max_tokens": _field(config, "maxOutputTokens"),
        "stop": tuple(require_list(_field(config, "stopSequences") or [], "stopSequences")),
        "seed": _field(config, "seed"),
        "response_format": _response_format(config),
        "extra": _penalties(config),
    }
    samples = sample_count({"candidateCount": _field(config, "candidateCount")}, "candidateCount")
    return ParsedRequest(build_request(fields), samples, is_stream, left_out=left_out)


def _field(body: Json, name: str) -> JsonValue:
    """Return a field by its camelCase name or by the same name in snake_case; None if it is absent."""
    found = body.get(name)
    return found if found is not None else body.get(re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name))


def _object(body: Json, name: str) -> Json:
    return dict(require_object(_field(body, name) or {}, name))


def _messages(body: Json) -> Iterator[Message]:
    system = _field(body, "systemInstruction")
    if system is not None:
        parts = [_part(part) for part in _content_parts(require_object(system, "systemInstruction"))]
        yield from [message_from_parts(Speaker.SYSTEM, parts)] if parts else []
    calls = _OpenCalls()
    for is_model, contents in groupby(require_objects(_field(body, "contents"), "contents"), _is_model):
        turn = [part for content in contents for part in _content_parts(content)]
        if turn:
            yield from [_model_message(turn, calls)] if is_model else _user_messages(turn, calls)


def _is_model(content: Json) -> bool:
    role = content.get("role", "user")
    if role not in _ROLES:
        raise MalformedBody("field role of contents must be user or model")
    return role == "model"


def _content_parts(content: Json) -> list[Json]:
    return [part for part in require_objects(content.get("parts"), "parts") if part.keys() - _PART_METADATA]


@dataclass(slots=True)
class _OpenCalls:
    """Calls of the model's last turn that have no result yet, and the number of calls so far."""

    number: int = 0
    open: list[tuple[ToolCall, bool]] = field(default_factory=list)
    """Each with whether the request gave its id."""

    def add(self, body: Json) -> ToolCall:
        """A call without an id gets one from its number in the conversation."""
        given = text_or_empty(body, "id")
        arguments = json.dumps(require_object(body.get("args") or {}, "args"), ensure_ascii=False)
        identifier = given or _GENERATED_ID.format(self.number)
        call = ToolCall(id=identifier, name=require_text(body, "name"), arguments=arguments)
        self.number += 1
        self.open.append((call, bool(given)))
        return call

    def close(self, result: Json) -> str:
        """Return the id of the call that a result belongs to. Raises MalformedBody if there is none."""
        given, name = text_or_empty(result, "id"), text_or_empty(result, "name")
        by_id = [each for each in self.open if given and each[0].id == given]
        by_name = [each for each in self.open if each[0].name == name and not (given and each[1])]
        found = [*by_id, *by_name]
        if not found:
            what = f"the functionResponse {name} {given}".strip()
            raise MalformedBody(f"{what} belongs to no call of the turn before")
        self.open.remove(found[0])
        return found[0][0].id


def _model_message(parts: Iterable[Json], calls: _OpenCalls) -> Message:
    """Return a turn of the model as one message; adjacent texts are pieces of one."""
    calls.open = []  # those of the turn before will get no result
    tool_calls, reasoning, rest = [], [], []
    for part in parts:
        if part.keys() & _CALL_FIELDS:
            tool_calls.append(calls.add(_object(part, "functionCall")))
        elif part.get("thought") is True:
            reasoning.append(text_or_empty(part, "text"))
        else:
            rest.append(_part(part))
    if all(part.type == "text" for part in rest):
        rest = [text_part("".join(str(part.model_dump()["text"]) for part in rest))]
    message = message_from_parts(Speaker.ASSISTANT, rest)
    return message.model_copy(update={"tool_calls": tuple(tool_calls), "reasoning": "".join(reasoning)})


def _user_messages(parts: Iterable[Json], calls: _OpenCalls) -> Iterator[Message]:
    """Yield a message for each function result of a turn, then one of the user with the rest."""
    rest: list[Part] = []
    for part in parts:
        body = _field(part, "functionResponse")
        if body is None:
            rest.append(_part(part))
            continue
        result = require_object(body, "functionResponse")
        yield Message(role=Speaker.TOOL, content=_result_text(result), tool_call_id=calls.close(result))
        rest += [_part(shown) for shown in _content_parts(result)]
    if rest:
        yield message_from_parts(Speaker.USER, rest)


def _result_text(result: Json) -> str:
    """Return a function's output alone if the result holds nothing else, otherwise the whole result as JSON."""
    response = require_object(result.get("response") or {}, "response")
    output = response.get("output")
    return output if isinstance(output, str) and len(response) == 1 else json.dumps(response, ensure_ascii=False)


def _part(part: Json) -> Part:
    if "text" in part:
        return text_part(require_text(part, "text"))
    data = _field(part, "inlineData")
    if data is None:
        raise MalformedBody(f"a part with {', '.join(sorted(part))[:100]} is not supported")
    inline = require_object(data, "inlineData")
    kind = _field(inline, "mimeType")
    url = f"data:{kind};base64,{require_text(inline, 'data')}"
    if isinstance(kind, str) and kind.startswith("image/"):
        return image_part(url)
    return Part.model_validate({"type": "file", "file": {"filename": "file", "file_data": url}})


def _tools(body: Json) -> tuple[tuple[Tool, ...], tuple[str, ...]]:
    """Return the declared functions, and the names of tools that only Google's service can run."""
    name = "functionDeclarations"
    groups = require_objects(body.get("tools"), "tools")
    declared = [each for group in groups for each in require_objects(_field(group, name), name)]
    others = {name for group in groups for name in group} - {"functionDeclarations", "function_declarations"}
    return tuple(_tool(each) for each in declared), tuple(sorted(others))


def _tool(body: Json) -> Tool:
    exact = _field(body, "parametersJsonSchema")
    if exact is not None:
        parameters = require_object(exact, "parametersJsonSchema")
    else:
        parameters = convert_parameters(_object(body, "parameters"))
    return Tool(name=require_text(body, "name"), description=text_or_empty(body, "description"), parameters=parameters)


def _callable_tools(tools: tuple[Tool, ...], config: Json) -> tuple[tuple[Tool, ...], JsonValue]:
    """Return the tools that may be called (the chat API cannot restrict a choice to several), and the tool choice."""
    if not tools or not config:
        return tools, None
    mode = _field(config, "mode") or "AUTO"
    if not isinstance(mode, str) or mode not in _MODES:
        raise MalformedBody(f"field mode of functionCallingConfig must be one of {', '.join(_MODES)}")
    allowed = require_list(_field(config, "allowedFunctionNames") or [], "allowedFunctionNames")
    left = tuple(tool for tool in tools if not allowed or tool.name in allowed)
    if not left:
        raise MalformedBody("field allowedFunctionNames names no declared function")
    return left, _MODES[mode]


def _response_format(config: Json) -> ResponseFormat | None:
    json_schema, google_schema = _field(config, "responseJsonSchema"), _field(config, "responseSchema")
    if json_schema is None and google_schema is None:
        return JSON_MODE if _field(config, "responseMimeType") == "application/json" else None
    schema = json_schema if json_schema is not None else convert_schema(require_object(google_schema, "responseSchema"))
    return ResponseFormat.model_validate({"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}})


def _penalties(config: Json) -> Json:
    names = {"presence_penalty": "presencePenalty", "frequency_penalty": "frequencyPenalty"}
    return {name: value for name, theirs in names.items() if (value := _field(config, theirs)) is not None}


_COUNTS = {"minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"}
"""64-bit integers, which Google writes as strings."""
_GOOGLE_ONLY = {"nullable", "propertyOrdering"}


def convert_parameters(schema: Json) -> Json:
    """Return the JSON Schema of a function's parameters; an empty schema means that it takes none."""
    return convert_schema(schema) or {"type": "object", "properties": {}}


def convert_schema(schema: Json) -> Json:
    """Return the JSON Schema: types in lower case, ``nullable`` as a type, names in camelCase. Raises MalformedBody."""
    camel = {re.sub("_([a-z])", lambda found: found[1].upper(), name): value for name, value in schema.items()}
    converted = {name: _value(name, value) for name, value in camel.items() if name not in _GOOGLE_ONLY}
    if schema.get("nullable") is True:
        given = {name: converted[name] for name in ("type", "enum") if name in converted}
        converted |= {name: [*each, None] if isinstance(each, list) else [each, "null"] for name, each in given.items()}
    return converted


def _value(name: str, value: JsonValue) -> JsonValue:
    if name == "type" and isinstance(value, str):
        return value.lower()
    if name in _COUNTS and isinstance(value, str) and value.isdecimal():
        return int(value)
    if name == "properties":
        return {key: convert_schema(require_object(each, name)) for key, each in require_object(value, name).items()}
    if name == "items":
        return convert_schema(require_object(value, name))
    if name == "anyOf" and isinstance(value, list):
        return [convert_schema(require_object(each, name)) for each in value]
    return value
