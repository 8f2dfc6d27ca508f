"""Importer for mini-swe-agent's ``.traj.json``: the conversation, with usage and times in the ``extra`` of a message.

Old files are the bare list of messages. Models without tool calls write their command in a fenced block, and the result
is the user's next message; with tool calls, it is a message of the tool.
"""

import json
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from pydantic import AliasPath, Field, JsonValue

from assay.agents.external.importers.common import LooseModel, assemble, bash_call, make_call, non_empty, plain_text
from assay.agents.trajectory import (
    AgentInfo,
    FinalMetrics,
    Metrics,
    Observation,
    ObservationResult,
    RecordedToolCall,
    Step,
    Trajectory,
)

_FENCE = re.compile(r"```(?:mswea_bash_command|bash)\s*\n(.*?)\n?```", re.DOTALL)


class _Call(LooseModel):
    id: str
    name: str = Field(validation_alias=AliasPath("function", "name"))
    arguments: JsonValue = Field(default=None, validation_alias=AliasPath("function", "arguments"))


class _PromptDetails(LooseModel):
    cached_tokens: int | None = None


class _Usage(LooseModel):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _PromptDetails | None = None


class _Response(LooseModel):
    model: str | None = None
    usage: _Usage | None = None


class _Extra(LooseModel):
    response: _Response | str | None = None
    cost: float | None = None
    timestamp: float | None = None
    exit_status: str | None = None


class _Message(LooseModel):
    role: str
    content: JsonValue = None
    tool_calls: tuple[_Call, ...] | None = None
    tool_call_id: str | None = None
    extra: _Extra = _Extra()


class _Stats(LooseModel):
    instance_cost: float | None = None
    api_calls: int | None = None


class _ModelConfig(LooseModel):
    model_name: str | None = None


class _Config(LooseModel):
    model: _ModelConfig = _ModelConfig()


class _Info(LooseModel):
    model_stats: _Stats = _Stats()
    config: _Config = _Config()
    mini_version: str | None = None
    exit_status: str | None = None
    submission: str | None = None


class _File(LooseModel):
    messages: tuple[_Message, ...]
    info: _Info = _Info()
    trajectory_format: str | None = None
    instance_id: str | None = None


def read(content: bytes) -> Trajectory:
    """Read a file. Raises ValueError if it is not one of mini-swe-agent's."""
    parsed = json.loads(content)
    file = _File.model_validate({"messages": parsed} if isinstance(parsed, list) else parsed)
    info = file.info
    steps = tuple(_steps(file.messages))
    metrics, model = [step.metrics for step in steps if step.metrics], info.config.model.model_name
    return assemble(
        AgentInfo(name="mini-swe-agent", version=info.mini_version or "unknown", model_name=model),
        steps,
        final=FinalMetrics(
            total_prompt_tokens=_sum([each.prompt_tokens for each in metrics]),
            total_completion_tokens=_sum([each.completion_tokens for each in metrics]),
            total_cached_tokens=_sum([each.cached_tokens for each in metrics]),
            total_cost_usd=info.model_stats.instance_cost,
            extra=non_empty(api_calls=info.model_stats.api_calls),
        ),
        extra=non_empty(
            exit_status=info.exit_status,
            submission=info.submission,
            instance_id=file.instance_id,
            trajectory_format=file.trajectory_format,
        ),
    )


def _steps(messages: Sequence[_Message]) -> Iterator[Step]:
    """Yield an agent's step for each answer with the results after it; every other message is a step of its own."""
    at = 0
    while at < len(messages):
        message = messages[at]
        at += 1
        if message.role != "assistant":
            source = "user" if message.role in {"user", "tool"} else "system"
            facts = {"message": plain_text(message.content), "timestamp": iso_time(message.extra.timestamp)}
            yield Step.model_validate({"source": source, **facts})
            continue
        calls = _calls(message, at)
        results: list[ObservationResult] = []
        result_role = "tool" if message.tool_calls else "user"
        while at < len(messages) and len(results) < len(calls) and messages[at].role == result_role:
            result = messages[at]
            call_id = result.tool_call_id or calls[len(results)].tool_call_id
            results.append(ObservationResult(source_call_id=call_id, content=plain_text(result.content)))
            at += 1
        yield _agent_step(message, calls, results)


def _agent_step(message: _Message, calls: Sequence[RecordedToolCall], results: Sequence[ObservationResult]) -> Step:
    response = message.extra.response if isinstance(message.extra.response, _Response) else None
    usage = response.usage if response else None
    has_metrics = usage is not None or message.extra.cost is not None
    return Step(
        source="agent",
        timestamp=iso_time(message.extra.timestamp),
        model_name=response.model if response else None,
        message=plain_text(message.content),
        tool_calls=tuple(calls) or None,
        observation=Observation(results=tuple(results)) if results else None,
        metrics=_metrics(usage or _Usage(), message.extra.cost) if has_metrics else None,
    )


def iso_time(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def _metrics(usage: _Usage, cost: float | None) -> Metrics:
    return Metrics(
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        cached_tokens=(usage.prompt_tokens_details or _PromptDetails()).cached_tokens,
        cost_usd=cost,
    )


def _calls(message: _Message, number: int) -> tuple[RecordedToolCall, ...]:
    if message.tool_calls:
        return tuple(make_call(call.id, call.name, call.arguments) for call in message.tool_calls)
    commands = _FENCE.findall(plain_text(message.content))
    return (bash_call(f"action-{number}", commands[0]),) if len(commands) == 1 else ()


def _sum(numbers: Sequence[int | None]) -> int | None:
    """Return the sum of the known numbers; None if there is none."""
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None
