"""A trajectory (ATIF) as the chat that a model is trained on, in the form of OpenAI's API.

Arguments of tool calls are JSON texts, so that the rows of a file have the same columns. An action that the model wrote
into its text stays there, and its result is the user's message.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import groupby

from assay.harness.exports.atif import AtifCall, AtifObservation, AtifStep
from assay.harness.exports.chat_messages import Message, make_messages, read_content


def make_chat(steps: Sequence[AtifStep], model: str) -> list[Message]:
    """Return a trajectory as chat messages; answers of other runs, shown as examples, have the weight 0."""
    chat: list[Message] = []
    for is_copied, part in groupby(steps, key=lambda step: bool(step.get("is_copied_context"))):
        for message in make_messages([*_as_said(part)], model):
            said = _convert(message)
            chat.append({**said, "weight": 0} if is_copied and said["role"] == "assistant" else said)
    return chat


def _as_said(steps: Iterator[AtifStep]) -> Iterator[AtifStep]:
    """Yield steps without the calls that the model did not make as such; their results are the user's."""
    asked: set[str] = set()
    for step in steps:
        asked |= {call["id"] for call in (step.get("extra") or {}).get("asked_for") or ()}
        calls, seen = step.get("tool_calls") or [], step.get("observation")
        kept = [call for call in calls if call["tool_call_id"] in asked or _is_call(step, call)]
        if len(kept) == len(calls):
            yield step
            continue
        names = {call["tool_call_id"] for call in kept}
        results = seen["results"] if seen else []
        if kept or read_content(step["message"]) or step.get("reasoning_content"):
            own = AtifObservation(results=[each for each in results if each.get("source_call_id") in names])
            yield {**step, "tool_calls": kept, "observation": own}
        others = (each for each in results if each.get("source_call_id") not in names)
        yield from (AtifStep(source="user", message=each.get("content") or "") for each in others)


def _is_call(step: AtifStep, call: AtifCall) -> bool:
    """Return whether an action came with its answer and is no fenced block of the answer's text."""
    text = read_content(step["message"])
    blocks = (f"\n{value.strip()}\n```" for value in call["arguments"].values() if isinstance(value, str))
    return step.get("llm_call_count") != 0 and not any(block in text for block in blocks)


def _convert(message: Message) -> Message:
    """Return a message of Inspect's in the form of OpenAI's API."""
    content, calls = message["content"], message.get("tool_calls", ())
    parts = content if isinstance(content, list) else [{"text": content}]
    said: Message = {"role": message["role"], "content": "".join(part.get("text", "") for part in parts)}
    if reasoning := "".join(part.get("reasoning", "") for part in parts):
        said["reasoning_content"] = reasoning
    if calls:
        said["tool_calls"] = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["function"], "arguments": json.dumps(call["arguments"], ensure_ascii=False)},
            }
            for call in calls
        ]
    if message["role"] == "tool":
        return said | ({"tool_call_id": message["tool_call_id"]} if "tool_call_id" in message else {"role": "user"})
    return said
