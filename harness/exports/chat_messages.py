"""A trajectory (ATIF) as the chat messages of Inspect's logs."""

from collections.abc import Iterator, Sequence
from typing import Any

from assay.harness.exports.atif import AtifCall, AtifContent, AtifPart, AtifStep

Message = dict[str, Any]


def make_messages(steps: Sequence[AtifStep], model: str) -> list[Message]:
    """Return the messages of a trajectory: each result of an action is a message of the tool.

    A step without a text, whose actions follow from the model's last answer, gives them to that answer. ``model`` is
    for steps that name none.
    """
    found: list[Message] = []
    for step in steps:
        said, *results = _convert_step(step, model)
        last = found[-1] if found else {}
        if said["content"] == "" and "tool_calls" in said and last.get("role") == "assistant":
            last["tool_calls"] = [*last.get("tool_calls", ()), *said["tool_calls"]]
            found += results
        else:
            found += [said, *results]
    return found


def user_message(text: str) -> Message:
    return {"role": "user", "content": text}


def answer(text: str, model: str) -> Message:
    return {"role": "assistant", "content": text, "source": "generate", "model": model}


def _convert_step(step: AtifStep, model: str) -> Iterator[Message]:
    text, calls, seen = read_content(step["message"]), step.get("tool_calls") or [], step.get("observation")
    if step["source"] == "agent":
        said = answer(text, step.get("model_name") or model)
        if step.get("reasoning_content"):
            reasoning = {"type": "reasoning", "reasoning": step["reasoning_content"]}
            said["content"] = [reasoning, *([{"type": "text", "text": text}] if text else [])]
        yield said | ({"tool_calls": [_call(call) for call in calls]} if calls else {})
    else:
        yield {"role": step["source"], "content": text}
    names = {call["tool_call_id"]: call["function_name"] for call in calls}
    for result in seen["results"] if seen else ():
        name = result.get("source_call_id")
        about = {"tool_call_id": name, "function": names.get(name)} if name else {}
        yield {"role": "tool", "content": read_content(result.get("content")), **about}


def _call(call: AtifCall) -> dict[str, Any]:
    return {
        "id": call["tool_call_id"],
        "function": call["function_name"],
        "arguments": call["arguments"],
        "type": "function",
    }


def read_content(content: AtifContent | None) -> str:
    """Return a text, or the texts of its parts; other parts are named by their paths."""
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(part.get("text") or _describe_part(part) for part in content)


def _describe_part(part: AtifPart) -> str:
    source = part.get("source")
    return f"[{part['type']}: {source['path']}]" if source else f"[{part['type']}]"
