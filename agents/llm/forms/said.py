"""What the forms have in common: pieces of requests and of replies. Pure."""

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

from pydantic import JsonValue

from assay.agents.llm.cassette_key import key_of
from assay.agents.llm.chat import Answer, Message, Part, Request, Role, Usage
from assay.agents.llm.forms.base import Wish
from assay.agents.llm.wire import Json, NotOfThisForm, first_wrong

BETWEEN = "\n\n"
"""Between texts that other interfaces hold apart and a chat message has as one."""


def event(data: Json) -> str:
    """Return a server-sent event that is named by the type in its data."""
    return f"event: {data['type']}\ndata: {json.dumps(data)}\n\n"


def identifier(kind: str, wish: Wish, answer: Answer) -> str:
    """Return an id for an answer: the same for the same answer to the same question, and for no other."""
    told = f"{key_of(wish.request)} {answer.content} {[call.id for call in answer.tool_calls]}"
    return f"{kind}_{sha256(told.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}"


def total(answers: Sequence[Answer]) -> Usage:
    """Return the usage of all answers."""
    return sum((answer.usage for answer in answers[1:]), answers[0].usage)


def object_of(arguments: str) -> Json:
    """Return a call's arguments as the object that they should be.

    What a model wrote wrong is put into one field of the name ``arguments``: the tool then says what it wants instead.
    """
    try:
        parsed: JsonValue = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        parsed = None
    return parsed if isinstance(parsed, dict) else {"arguments": arguments}


def text_part(text: str) -> Part:
    """Return a text as a part of a message."""
    return Part.model_validate({"type": "text", "text": text})


def image_part(url: str) -> Part:
    """Return an image as a part of a message; the address may hold the image itself."""
    return Part.model_validate({"type": "image_url", "image_url": {"url": url}})


def message_of(role: Role, parts: Sequence[Part]) -> Message:
    """Return a message of parts; one of texts alone becomes one text, which every endpoint takes."""
    texts = [text for part in parts if part.type == "text" and isinstance(text := part.model_dump()["text"], str)]
    if len(texts) == len(parts):
        return Message(role=role, content=BETWEEN.join(texts))
    return Message(role=role, content=tuple(parts))


def settled(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Return a conversation with one system text, at its start, which is where every server of models takes one.

    What the system says before the model's first word is joined there; what it says later is said by the user.
    """
    told = list(messages)
    first = next((at for at, each in enumerate(told) if each.role is Role.ASSISTANT), len(told))
    opening = [each for each in told[:first] if each.role is not Role.SYSTEM]
    system = joined(text_of(each) for each in told[:first] if each.role is Role.SYSTEM)
    later = [each.model_copy(update={"role": Role.USER}) if each.role is Role.SYSTEM else each for each in told[first:]]
    start = [Message(role=Role.SYSTEM, content=system)] if system else []
    return (*start, *opening, *later)


def text_of(message: Message) -> str:
    """Return the texts of a message as one."""
    if isinstance(message.content, str):
        return message.content
    return joined(str(part.model_dump()["text"]) for part in message.content if part.type == "text")


def request_of(fields: Mapping[str, object]) -> Request:
    """Return a request of fields of another interface. Raises NotOfThisForm, with the field that is wrong."""
    try:
        return Request.model_validate({name: value for name, value in fields.items() if value is not None})
    except ValueError as error:
        raise NotOfThisForm(first_wrong(error)) from error


def entries(value: JsonValue, name: str) -> list[Json]:
    """Return a field that must be a list of objects; empty without it. Raises NotOfThisForm."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise NotOfThisForm(f"field {name} must be a list")
    return [entry(each, name) for each in value]


def entry(value: JsonValue, name: str) -> Json:
    """Return a value that must be an object. Raises NotOfThisForm."""
    if not isinstance(value, dict):
        raise NotOfThisForm(f"field {name} must hold JSON objects")
    return value


def word(value: Json, name: str) -> str:
    """Return a field that must be a text. Raises NotOfThisForm."""
    found = value.get(name)
    if not isinstance(found, str):
        raise NotOfThisForm(f"field {name} must be a text")
    return found


def joined(texts: Iterable[str]) -> str:
    """Return texts as one; empty ones add nothing."""
    return BETWEEN.join(text for text in texts if text)


def check_tools(is_any_left: bool, left_out: Sequence[str]) -> None:
    """Refuse a request of which no tool is left: it is asked for the sake of those that were left out.

    Raises:
        NotOfThisForm: tools were left out and none remains.
    """
    if left_out and not is_any_left:
        told = ", ".join(left_out)
        raise NotOfThisForm(f"there is no {told} here: who answers runs no tools of its own, and has no network")
