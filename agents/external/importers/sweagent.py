"""Importer for SWE-agent's ``.traj``, of 0.x (whose ``state`` is a JSON text) and of 1.x.

``trajectory`` has the steps. Of ``history``, the messages to the model, only the opening is read: the rest repeats the
steps.
"""

import json
from collections.abc import Iterator

from pydantic import JsonValue

from assay.agents.external.importers.common import LooseModel, assemble, bash_call, non_empty, plain_text, single_result
from assay.agents.trajectory import AgentInfo, FinalMetrics, Step, Trajectory


class _Turn(LooseModel):
    action: str | None = None
    observation: str | None = None
    response: str | None = None
    thought: str | None = None
    state: JsonValue = None
    execution_time: float | None = None


class _Message(LooseModel):
    role: str
    content: JsonValue = None
    is_demo: bool = False


class _Stats(LooseModel):
    instance_cost: float | None = None
    tokens_sent: int | None = None
    tokens_received: int | None = None
    api_calls: int | None = None


class _Info(LooseModel):
    exit_status: str | None = None
    submission: str | None = None
    model_stats: _Stats = _Stats()
    swe_agent_version: str | None = None


class _File(LooseModel):
    trajectory: tuple[_Turn, ...]
    history: tuple[_Message, ...] = ()
    info: _Info = _Info()
    environment: str | None = None
    replay_config: JsonValue = None


def read(content: bytes) -> Trajectory:
    """Read a file. Raises ValueError if it is not one of SWE-agent's."""
    file = _File.model_validate_json(content)
    stats = file.info.model_stats
    model = _model_name(_parse_json(file.replay_config))
    return assemble(
        AgentInfo(name="swe-agent", version=file.info.swe_agent_version or "unknown", model_name=model),
        (*_opening(file.history), *(_step(number, turn) for number, turn in enumerate(file.trajectory, 1))),
        final=FinalMetrics(
            total_prompt_tokens=stats.tokens_sent,
            total_completion_tokens=stats.tokens_received,
            total_cost_usd=stats.instance_cost,
            extra=non_empty(api_calls=stats.api_calls),
        ),
        extra=non_empty(
            exit_status=file.info.exit_status, submission=file.info.submission, environment=file.environment
        ),
    )


def _opening(history: tuple[_Message, ...]) -> Iterator[Step]:
    """Yield the messages before the model's first answer, including demonstrations, which are of other runs."""
    for message in history:
        if message.role == "assistant" and not message.is_demo:
            return
        source = {"system": "system", "assistant": "agent"}.get(message.role, "user")
        yield Step.model_validate(
            {"source": source, "message": plain_text(message.content), "is_copied_context": message.is_demo or None}
        )


def _step(number: int, turn: _Turn) -> Step:
    call = f"action-{number}"
    has_action = bool(turn.action and turn.action.strip())
    result = turn.observation
    return Step(
        source="agent",
        message=turn.response or turn.thought or "",
        tool_calls=(bash_call(call, turn.action or ""),) if has_action else None,
        observation=single_result(call if has_action else None, result) if result is not None else None,
        extra=non_empty(state=_parse_json(turn.state), execution_time=turn.execution_time),
    )


def _parse_json(value: JsonValue) -> JsonValue:
    """Return a value that some versions store as JSON text; text that is not JSON stays text."""
    if not isinstance(value, str):
        return value
    try:
        parsed: JsonValue = json.loads(value)
    except ValueError:
        return value
    return parsed


def _model_name(config: JsonValue) -> str | None:
    for name in ("agent", "model", "name"):
        config = config.get(name) if isinstance(config, dict) else None
    return config if isinstance(config, str) else None
