"""Requests of Google's generateContent interface. Pure.

Calls of functions often have no ids there: a result belongs to the first call of its name that has none yet. Contents
of one speaker that follow each other are one turn, because a chat wants every call's result right behind the calls.

Left out without a word, because only Google's models know them: ``topK``, ``thinkingConfig``, ``safetySettings`` and
the signatures of thoughts. Fields may be spelt with underscores, as Google's servers take them.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby

from pydantic import JsonValue

from assay.agents.llm.chat import JSON_MODE, Message, Part, ResponseFormat, Role, Tool, ToolCall
from assay.agents.llm.forms.base import Wish, counted
from assay.agents.llm.forms.gemini_schema import parameters_of, to_json_schema
from assay.agents.llm.forms.said import check_tools, entries, entry, image_part, message_of, request_of, text_part, word
from assay.agents.llm.wire import Json, NotOfThisForm, listed, text_of

_SPEAKERS = {"user", "function", "model"}
_NAMED_BY_US = "call_{}"
_MODES = {"MODE_UNSPECIFIED": "auto", "AUTO": "auto", "VALIDATED": "auto", "ANY": "required", "NONE": "none"}
_NO_WORDS = {"thought", "thoughtSignature", "thought_signature", "partMetadata", "videoMetadata", "mediaResolution"}
"""Fields of a part that say something of it, and nothing by themselves."""
_CALLS = {"functionCall", "function_call"}


def read(model: str, body: Json, *, is_stream: bool = False) -> Wish:
    """Read a posted body.

    Args:
        model: its name, from the path.
        body: of a question, or of one whose tokens are to be counted.
        is_stream: whether the path asks for a stream.

    Raises:
        NotOfThisForm: a field has the wrong form, or asks for what only Google's service has.
    """
    body = _object(body, "generateContentRequest") or body
    if of(body, "cachedContent") is not None:
        raise NotOfThisForm("field cachedContent: nothing is kept here between questions; send the contents themselves")
    config = _object(body, "generationConfig")
    tools, left_out = _tools(body)
    check_tools(bool(tools), left_out)
    tools, choice = _chosen(tools, _object(_object(body, "toolConfig"), "functionCallingConfig"))
    fields = {
        "model": model,
        "messages": tuple(_messages(body)),
        "tools": tools,
        "tool_choice": choice,
        "temperature": of(config, "temperature"),
        "top_p": of(config, "topP"),
        "max_tokens": of(config, "maxOutputTokens"),
        "stop": tuple(listed(of(config, "stopSequences") or [], "stopSequences")),
        "seed": of(config, "seed"),
        "response_format": _format(config),
        "extra": _penalties(config),
    }
    wanted = counted({"candidateCount": of(config, "candidateCount")}, "candidateCount")
    return Wish(request_of(fields), wanted, is_stream, left_out=left_out)


def of(body: Json, name: str) -> JsonValue:
    """Return a field by its name, or by the same name with underscores; None without it."""
    found = body.get(name)
    return found if found is not None else body.get(re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name))


def _object(body: Json, name: str) -> Json:
    return dict(entry(of(body, name) or {}, name))


def _messages(body: Json) -> Iterator[Message]:
    system = of(body, "systemInstruction")
    if system is not None:
        said = [_part(part) for part in _parts_of(entry(system, "systemInstruction"))]
        yield from [message_of(Role.SYSTEM, said)] if said else []
    calls = _Calls()
    for is_model, contents in groupby(entries(of(body, "contents"), "contents"), _is_model):
        parts = [part for content in contents for part in _parts_of(content)]
        if parts:
            yield from [_said(parts, calls)] if is_model else _told(parts, calls)


def _is_model(content: Json) -> bool:
    speaker = content.get("role", "user")
    if speaker not in _SPEAKERS:
        raise NotOfThisForm("field role of contents must be user or model")
    return speaker == "model"


def _parts_of(content: Json) -> list[Json]:
    return [part for part in entries(content.get("parts"), "parts") if part.keys() - _NO_WORDS]


@dataclass(slots=True)
class _Calls:
    """The calls of a conversation so far: how many, and which ones of the last turn have no result yet."""

    number: int = 0
    open: list[tuple[ToolCall, bool]] = field(default_factory=list)
    """Each with whether its id was given."""

    def begin(self) -> None:
        """Begin a turn of the model; what has no result by now gets none."""
        self.open = []

    def called(self, call: Json) -> ToolCall:
        """Read a call; one without an id is named by its number in the conversation."""
        given = text_of(call, "id")
        arguments = json.dumps(entry(call.get("args") or {}, "args"), ensure_ascii=False)
        read = ToolCall(id=given or _NAMED_BY_US.format(self.number), name=word(call, "name"), arguments=arguments)
        self.number += 1
        self.open.append((read, bool(given)))
        return read

    def answered(self, result: Json) -> str:
        """Return the id of the call that a result belongs to, and close it. Raises NotOfThisForm: there is none."""
        given, name = text_of(result, "id"), text_of(result, "name")
        by_id = [each for each in self.open if given and each[0].id == given]
        by_name = [each for each in self.open if each[0].name == name and not (given and each[1])]
        found = [*by_id, *by_name]
        if not found:
            raise NotOfThisForm(
                f"the functionResponse {name} {given}".strip() + " belongs to no call of the turn before"
            )
        self.open.remove(found[0])
        return found[0][0].id


def _said(parts: Iterable[Json], calls: _Calls) -> Message:
    """Read a turn of the model: its texts are pieces of one."""
    calls.begin()
    wanted, thoughts, rest = [], [], []
    for part in parts:
        if part.keys() & _CALLS:
            wanted.append(calls.called(_object(part, "functionCall")))
        elif part.get("thought") is True:
            thoughts.append(text_of(part, "text"))
        else:
            rest.append(_part(part))
    if all(part.type == "text" for part in rest):
        rest = [text_part("".join(str(part.model_dump()["text"]) for part in rest))]
    message = message_of(Role.ASSISTANT, rest)
    return message.model_copy(update={"tool_calls": tuple(wanted), "reasoning": "".join(thoughts)})


def _told(parts: Iterable[Json], calls: _Calls) -> Iterator[Message]:
    """Read a turn of the user: first the results, as a chat wants them, then what else is said and shown."""
    rest: list[Part] = []
    for part in parts:
        result = of(part, "functionResponse")
        if result is None:
            rest.append(_part(part))
            continue
        result = entry(result, "functionResponse")
        yield Message(role=Role.TOOL, content=_outcome(result), tool_call_id=calls.answered(result))
        rest += [_part(shown) for shown in _parts_of(result)]
    if rest:
        yield message_of(Role.USER, rest)


def _outcome(result: Json) -> str:
    """Return what a function gave as a text: its output alone if there is nothing else, otherwise all as JSON."""
    told = entry(result.get("response") or {}, "response")
    output = told.get("output")
    return output if isinstance(output, str) and len(told) == 1 else json.dumps(told, ensure_ascii=False)


def _part(part: Json) -> Part:
    if "text" in part:
        return text_part(word(part, "text"))
    data = of(part, "inlineData")
    if data is None:
        raise NotOfThisForm(f"a part with {', '.join(sorted(part))[:100]} cannot be shown to this model")
    inline = entry(data, "inlineData")
    kind = of(inline, "mimeType")
    url = f"data:{kind};base64,{word(inline, 'data')}"
    if isinstance(kind, str) and kind.startswith("image/"):
        return image_part(url)
    return Part.model_validate({"type": "file", "file": {"filename": "file", "file_data": url}})


def _tools(body: Json) -> tuple[tuple[Tool, ...], tuple[str, ...]]:
    """Return the functions, and the names of what only Google's service could run."""
    groups = entries(body.get("tools"), "tools")
    declared = [each for group in groups for each in entries(of(group, "functionDeclarations"), "functionDeclarations")]
    others = {name for group in groups for name in group} - {"functionDeclarations", "function_declarations"}
    return tuple(_tool(each) for each in declared), tuple(sorted(others))


def _tool(declared: Json) -> Tool:
    exact = of(declared, "parametersJsonSchema")
    parameters = (
        entry(exact, "parametersJsonSchema") if exact is not None else parameters_of(_object(declared, "parameters"))
    )
    return Tool(name=word(declared, "name"), description=text_of(declared, "description"), parameters=parameters)


def _chosen(tools: tuple[Tool, ...], config: Json) -> tuple[tuple[Tool, ...], JsonValue]:
    """Return the tools that may be called and whether one must be; a chat names no several tools, so the others go."""
    if not tools or not config:
        return tools, None
    mode = of(config, "mode") or "AUTO"
    if not isinstance(mode, str) or mode not in _MODES:
        raise NotOfThisForm(f"field mode of functionCallingConfig must be one of {', '.join(_MODES)}")
    allowed = listed(of(config, "allowedFunctionNames") or [], "allowedFunctionNames")
    left = tuple(tool for tool in tools if not allowed or tool.name in allowed)
    if not left:
        raise NotOfThisForm("field allowedFunctionNames names no function that is declared")
    return left, _MODES[mode]


def _format(config: Json) -> ResponseFormat | None:
    exact, ours = of(config, "responseJsonSchema"), of(config, "responseSchema")
    if exact is None and ours is None:
        return JSON_MODE if of(config, "responseMimeType") == "application/json" else None
    schema = exact if exact is not None else to_json_schema(entry(ours, "responseSchema"))
    return ResponseFormat.model_validate({"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}})


def _penalties(config: Json) -> Json:
    told = {"presence_penalty": of(config, "presencePenalty"), "frequency_penalty": of(config, "frequencyPenalty")}
    return {name: value for name, value in told.items() if value is not None}
