"""Helpers of the importers: read JSON whose fields are only partly known, and put a trajectory together."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from assay.agents.trajectory import (
    AgentInfo,
    FinalMetrics,
    Observation,
    ObservationResult,
    RecordedToolCall,
    Step,
    Trajectory,
)


class LooseModel(BaseModel):
    """A JSON object of another project; fields that the class does not name are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


Each = TypeVar("Each", bound=LooseModel)


def json_lines(content: bytes, kind: type[Each]) -> Iterator[Each]:
    """Yield the JSON objects in a file of lines and skip other lines. Raises ValueError if no line is of this kind."""
    is_any = False
    for line in content.decode(errors="replace").splitlines():
        if not line.lstrip().startswith("{"):
            continue
        try:
            found = kind.model_validate(json.loads(line))
        except (ValidationError, json.JSONDecodeError):
            continue
        is_any = True
        yield found
    if not is_any:
        raise ValueError("it has no line that is a JSON object of a known kind")


def plain_text(content: JsonValue) -> str:
    """Return the content of a message as text: a string, the texts of its parts, or anything else as JSON."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(_part_text(part) for part in content)
    return json.dumps(content, ensure_ascii=False)


def _part_text(part: JsonValue) -> str:
    text = part.get("text") if isinstance(part, dict) else part
    return text if isinstance(text, str) else json.dumps(part, ensure_ascii=False)[:200]


def parse_arguments(arguments: JsonValue) -> dict[str, JsonValue]:
    if isinstance(arguments, str):
        try:
            parsed = json.loads(arguments)
        except ValueError:
            parsed = None
        return parsed if isinstance(parsed, dict) else {"text": arguments}
    return arguments if isinstance(arguments, dict) else {}


def make_call(call_id: str, name: str, arguments: JsonValue) -> RecordedToolCall:
    return RecordedToolCall(tool_call_id=call_id, function_name=name, arguments=parse_arguments(arguments))


def bash_call(call_id: str, command: str) -> RecordedToolCall:
    return RecordedToolCall(tool_call_id=call_id, function_name="bash", arguments={"command": command})


def single_result(call_id: str | None, content: str) -> Observation:
    return Observation(results=(ObservationResult(source_call_id=call_id, content=content),))


def non_empty(**fields: JsonValue) -> dict[str, JsonValue] | None:
    """Return the fields that are not empty; None if all are."""
    return {name: value for name, value in fields.items() if value not in (None, "", {}, [])} or None


def assemble(
    agent: AgentInfo,
    steps: Iterable[Step],
    *,
    final: FinalMetrics | None = None,
    extra: Mapping[str, JsonValue] | None = None,
    session_id: str | None = None,
) -> Trajectory:
    """Number the steps and return the trajectory. Raises ValueError if there is no step."""
    numbered = tuple(step.model_copy(update={"step_id": number}) for number, step in enumerate(steps, 1))
    if not numbered:
        raise ValueError("it has no step")
    metrics = (final or FinalMetrics()).model_copy(update={"total_steps": len(numbered)})
    return Trajectory(
        agent=agent, steps=numbered, final_metrics=metrics, extra=dict(extra) if extra else None, session_id=session_id
    )
