"""Parts of requests and replies that several dialects share. Pure."""

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

from pydantic import JsonValue

from assay.agents.llm.cassette_key import hash_question
from assay.agents.llm.chat import Answer, Message, Part, Request, Speaker, TokenUsage
from assay.agents.llm.json_fields import Json, MalformedBody, describe_invalid
from assay.agents.llm.proxy.dialects.base import HttpRequest, ParsedRequest, bearer_token

SEPARATOR = "\n\n"  # between texts that other APIs keep apart and a chat message holds as one


def format_event(data: Json) -> str:
    """Return a server-sent event named after the field ``type`` of its data."""
    return f"event: {data['type']}\ndata: {json.dumps(data)}\n\n"


def answer_id(prefix: str, parsed: ParsedRequest, answer: Answer) -> str:
    """Return an id that depends on the question and the answer alone, so that replays repeat it."""
    content = f"{hash_question(parsed.request)} {answer.content} {[call.id for call in answer.tool_calls]}"
    return f"{prefix}_{sha256(content.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}"


def total_usage(answers: Sequence[Answer]) -> TokenUsage:
    return sum((answer.usage for answer in answers), TokenUsage())


class OpenAiDialect:
    """What OpenAI's two APIs share."""

    def token(self, request: HttpRequest) -> str:
        return bearer_token(request)

    def count(self, tokens: int) -> Json:
        raise NotImplementedError

    def models(self, names: Sequence[str]) -> Json:
        return {"object": "list", "data": [{"id": name, "object": "model", "owned_by": "assay"} for name in names]}


def arguments_object(arguments: str) -> Json:
    """Return a tool call's arguments as an object; what is none becomes its one field ``arguments``."""
    try:
        parsed: JsonValue = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        parsed = None
    return parsed if isinstance(parsed, dict) else {"arguments": arguments}


def text_part(text: str) -> Part:
    return Part.model_validate({"type": "text", "text": text})


def image_part(url: str) -> Part:
    """``url`` may be a data URL."""
    return Part.model_validate({"type": "image_url", "image_url": {"url": url}})


def message_from_parts(role: Speaker, parts: Sequence[Part]) -> Message:
    """Return a message; parts that are all text become one string, which every endpoint accepts."""
    texts = [text for part in parts if part.type == "text" and isinstance(text := part.model_dump()["text"], str)]
    if len(texts) == len(parts):
        return Message(role=role, content=SEPARATOR.join(texts))
    return Message(role=role, content=tuple(parts))


def merge_system_messages(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Return a conversation whose only system message is the first one, since many servers reject any other.

    System messages before the model's first answer are joined; later ones become messages of the user.
    """
    conversation = list(messages)
    first_answer = next(
        (at for at, each in enumerate(conversation) if each.role is Speaker.ASSISTANT), len(conversation)
    )
    before, after = conversation[:first_answer], conversation[first_answer:]
    system = join_texts(message_text(each) for each in before if each.role is Speaker.SYSTEM)
    start = [Message(role=Speaker.SYSTEM, content=system)] if system else []
    opening = [each for each in before if each.role is not Speaker.SYSTEM]
    rest = [each.model_copy(update={"role": Speaker.USER}) if each.role is Speaker.SYSTEM else each for each in after]
    return (*start, *opening, *rest)


def message_text(message: Message) -> str:
    if isinstance(message.content, str):
        return message.content
    return join_texts(str(part.model_dump()["text"]) for part in message.content if part.type == "text")


def join_texts(texts: Iterable[str]) -> str:
    return SEPARATOR.join(text for text in texts if text)


def build_request(fields: Mapping[str, object]) -> Request:
    """Return a request with these fields; None means absent. Raises MalformedBody with the wrong field."""
    try:
        return Request.model_validate({name: value for name, value in fields.items() if value is not None})
    except ValueError as error:
        raise MalformedBody(describe_invalid(error)) from error


def check_tools_left(has_tools: bool, left_out: Sequence[str]) -> None:
    """Reject a request whose tools were all left out, since it was made for their sake. Raises MalformedBody."""
    if left_out and not has_tools:
        raise MalformedBody(f"not available: {', '.join(left_out)}; the model has no server-side tools and no network")
