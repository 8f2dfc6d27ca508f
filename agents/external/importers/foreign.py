"""What the importers share: reading files whose fields are only partly known, and putting steps in order."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from assay.agents.trajectory import AgentInfo, FinalMetrics, Observation, ObservationResult, Step, ToolCall, Trajectory


class Foreign(BaseModel):
    """Part of a file of others: what is not named here is left out."""

    model_config = ConfigDict(frozen=True, extra="ignore")


Each = TypeVar("Each", bound=Foreign)


def lines_of(content: bytes, kind: type[Each]) -> Iterator[Each]:
    """Yield the JSON objects of a file of lines; lines that are none, such as warnings, are left out.

    Raises:
        ValueError: no line is one.
    """
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


def as_text(content: JsonValue) -> str:
    """Return a message's content as text: a text, parts with a text each, or whatever else as JSON."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(_part(part) for part in content)
    return json.dumps(content, ensure_ascii=False)


def _part(part: JsonValue) -> str:
    text = part.get("text") if isinstance(part, dict) else part
    return text if isinstance(text, str) else json.dumps(part, ensure_ascii=False)[:200]


def as_arguments(given: JsonValue) -> dict[str, JsonValue]:
    """Return a call's arguments, also from the text that some write them as."""
    if isinstance(given, str):
        try:
            parsed = json.loads(given)
        except ValueError:
            parsed = None
        return parsed if isinstance(parsed, dict) else {"text": given}
    return given if isinstance(given, dict) else {}


def command(call_id: str, text: str) -> ToolCall:
    """Return a shell command as an action."""
    return ToolCall(tool_call_id=call_id, function_name="bash", arguments={"command": text})


def result(call_id: str | None, told: str) -> Observation:
    """Return what came of one action."""
    return Observation(results=(ObservationResult(source_call_id=call_id, content=told),))


def iso(seconds: float | None) -> str | None:
    """Return a moment, given in seconds since 1970, as trajectories write it."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def known(**fields: JsonValue) -> dict[str, JsonValue] | None:
    """Return the fields that say something; None if none does."""
    return {name: value for name, value in fields.items() if value not in (None, "", {}, [])} or None


def assemble(
    agent: AgentInfo,
    steps: Iterable[Step],
    *,
    final: FinalMetrics | None = None,
    extra: Mapping[str, JsonValue] | None = None,
    session_id: str | None = None,
) -> Trajectory:
    """Number the steps and return the whole; raises ValueError if there is none."""
    numbered = tuple(step.model_copy(update={"step_id": number}) for number, step in enumerate(steps, 1))
    if not numbered:
        raise ValueError("it has no step")
    total = (final or FinalMetrics()).model_copy(update={"total_steps": len(numbered)})
    return Trajectory(
        agent=agent, steps=numbered, final_metrics=total, extra=dict(extra) if extra else None, session_id=session_id
    )
