"""SWE-agent's ``.traj``: of 0.x, whose ``state`` is a JSON text, and of 1.x.

``trajectory`` holds the steps, ``history`` what the model was told before the first and in between; of the latter only
the opening is taken, since everything else is in the steps.
"""

import json
from collections.abc import Iterator

from pydantic import Field, JsonValue

from assay.agents.external.importers.foreign import Foreign, as_text, assemble, command, known, result
from assay.agents.trajectory import AgentInfo, FinalMetrics, Step, Trajectory


class Turn(Foreign):
    """One step."""

    action: str | None = None
    observation: str | None = None
    response: str | None = None
    thought: str | None = None
    state: JsonValue = None
    execution_time: float | None = None


class Said(Foreign):
    """One message of the history."""

    role: str
    content: JsonValue = None
    is_demo: bool = False


class Stats(Foreign):
    """What the model took."""

    instance_cost: float | None = None
    tokens_sent: int | None = None
    tokens_received: int | None = None
    api_calls: int | None = None


class Info(Foreign):
    """How it ended."""

    exit_status: str | None = None
    submission: str | None = None
    model_stats: Stats = Stats()
    swe_agent_version: str | None = None


class File(Foreign):
    """The whole file."""

    trajectory: tuple[Turn, ...]
    history: tuple[Said, ...] = ()
    info: Info = Field(default_factory=Info)
    environment: str | None = None
    replay_config: JsonValue = None


def read(content: bytes) -> Trajectory:
    """Read a file; raises ValueError if it is none of SWE-agent's."""
    file = File.model_validate_json(content)
    config = _config(file.replay_config)
    stats = file.info.model_stats
    return assemble(
        AgentInfo(name="swe-agent", version=file.info.swe_agent_version or "unknown", model_name=_model(config)),
        (*_opening(file.history), *(_step(number, turn) for number, turn in enumerate(file.trajectory, 1))),
        final=FinalMetrics(
            total_prompt_tokens=stats.tokens_sent,
            total_completion_tokens=stats.tokens_received,
            total_cost_usd=stats.instance_cost,
            extra=known(api_calls=stats.api_calls),
        ),
        extra=known(exit_status=file.info.exit_status, submission=file.info.submission, environment=file.environment),
    )


def _opening(history: tuple[Said, ...]) -> Iterator[Step]:
    """Yield what was said before the model's first own word; demonstrations are not of this run."""
    for said in history:
        if said.role == "assistant" and not said.is_demo:
            return
        source = {"system": "system", "assistant": "agent"}.get(said.role, "user")
        yield Step.model_validate(
            {"source": source, "message": as_text(said.content), "is_copied_context": said.is_demo or None}
        )


def _step(number: int, turn: Turn) -> Step:
    call = f"action-{number}"
    acts = bool(turn.action and turn.action.strip())
    told = turn.observation is not None
    return Step(
        source="agent",
        message=turn.response or turn.thought or "",
        tool_calls=(command(call, turn.action or ""),) if acts else None,
        observation=result(call if acts else None, turn.observation or "") if told else None,
        extra=known(state=_state(turn.state), execution_time=turn.execution_time),
    )


def _state(state: JsonValue) -> JsonValue:
    """Return a state as it is, or read the text that 0.x keeps it as."""
    if not isinstance(state, str):
        return state
    try:
        parsed: JsonValue = json.loads(state)
    except ValueError:
        return state
    return parsed


def _config(config: JsonValue) -> JsonValue:
    """Return the settings of a run, which some versions keep as a text."""
    return _state(config)


def _model(config: JsonValue) -> str | None:
    for name in ("agent", "model", "name"):
        config = config.get(name) if isinstance(config, dict) else None
    return config if isinstance(config, str) else None
