"""mini-swe-agent's ``.traj.json``: the conversation, and under ``extra`` of a message what was done and what it took.

Its first files were the bare list of messages. Models without tool calls put their command into a fenced block, and
the outcome comes back as the user's next message; with them, as a message of the tool.
"""

import json
import re
from collections.abc import Iterator, Sequence

from pydantic import Field, JsonValue

from assay.agents.external.importers.foreign import Foreign, as_arguments, as_text, assemble, command, iso, known
from assay.agents.trajectory import (
    AgentInfo,
    FinalMetrics,
    Metrics,
    Observation,
    ObservationResult,
    Step,
    ToolCall,
    Trajectory,
)

_FENCE = re.compile(r"```(?:mswea_bash_command|bash)\s*\n(.*?)\n?```", re.DOTALL)


class Function(Foreign):
    """What a tool call names."""

    name: str
    arguments: JsonValue = None


class Call(Foreign):
    """A tool call."""

    id: str
    function: Function


class Details(Foreign):
    """Of a prompt's tokens."""

    cached_tokens: int | None = None


class Used(Foreign):
    """Tokens of an answer."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: Details | None = None


class Response(Foreign):
    """The endpoint's own answer."""

    model: str | None = None
    usage: Used | None = None


class Extra(Foreign):
    """What goes with a message."""

    response: Response | str | None = None
    cost: float | None = None
    timestamp: float | None = None
    exit_status: str | None = None


class Said(Foreign):
    """A message."""

    role: str
    content: JsonValue = None
    tool_calls: tuple[Call, ...] | None = None
    tool_call_id: str | None = None
    extra: Extra = Field(default_factory=Extra)


class Stats(Foreign):
    """What all answers took."""

    instance_cost: float | None = None
    api_calls: int | None = None


class ModelConfig(Foreign):
    """Of the model."""

    model_name: str | None = None


class Config(Foreign):
    """Of the run."""

    model: ModelConfig = ModelConfig()


class Info(Foreign):
    """About the run."""

    model_stats: Stats = Stats()
    config: Config = Config()
    mini_version: str | None = None
    exit_status: str | None = None
    submission: str | None = None


class File(Foreign):
    """The whole file."""

    messages: tuple[Said, ...]
    info: Info = Field(default_factory=Info)
    trajectory_format: str | None = None
    instance_id: str | None = None


def read(content: bytes) -> Trajectory:
    """Read a file; raises ValueError if it is none of mini-swe-agent's."""
    parsed = json.loads(content)
    file = File.model_validate({"messages": parsed} if isinstance(parsed, list) else parsed)
    info = file.info
    steps = tuple(_steps(file.messages))
    told = [step.metrics for step in steps if step.metrics]
    return assemble(
        AgentInfo(
            name="mini-swe-agent", version=info.mini_version or "unknown", model_name=info.config.model.model_name
        ),
        steps,
        final=FinalMetrics(
            total_prompt_tokens=_sum([each.prompt_tokens for each in told]),
            total_completion_tokens=_sum([each.completion_tokens for each in told]),
            total_cached_tokens=_sum([each.cached_tokens for each in told]),
            total_cost_usd=info.model_stats.instance_cost,
            extra=known(api_calls=info.model_stats.api_calls),
        ),
        extra=known(
            exit_status=info.exit_status,
            submission=info.submission,
            instance_id=file.instance_id,
            trajectory_format=file.trajectory_format,
        ),
    )


def _steps(messages: Sequence[Said]) -> Iterator[Step]:
    """Yield an agent's step for each answer, with the outcomes that follow it; all else is a step of its own."""
    place = 0
    while place < len(messages):
        said = messages[place]
        place += 1
        if said.role != "assistant":
            source = "user" if said.role in {"user", "tool"} else "system"
            yield Step.model_validate(
                {"source": source, "message": as_text(said.content), "timestamp": iso(said.extra.timestamp)}
            )
            continue
        actions = _actions(said, place)
        results: list[ObservationResult] = []
        while place < len(messages) and _answers(messages[place], said, actions, len(results)):
            heard = messages[place]
            call = heard.tool_call_id or actions[len(results)].tool_call_id
            results.append(ObservationResult(source_call_id=call, content=as_text(heard.content)))
            place += 1
        yield _agent_step(said, actions, results)


def _answers(heard: Said, said: Said, actions: Sequence[ToolCall], so_far: int) -> bool:
    """Tell whether a message is the outcome of the next action of an answer."""
    return so_far < len(actions) and heard.role == ("tool" if said.tool_calls else "user")


def _agent_step(said: Said, actions: Sequence[ToolCall], results: Sequence[ObservationResult]) -> Step:
    response = said.extra.response if isinstance(said.extra.response, Response) else None
    used = response.usage if response else None
    is_told = used is not None or said.extra.cost is not None
    return Step(
        source="agent",
        timestamp=iso(said.extra.timestamp),
        model_name=response.model if response else None,
        message=as_text(said.content),
        tool_calls=tuple(actions) or None,
        observation=Observation(results=tuple(results)) if results else None,
        metrics=_metrics(used or Used(), said.extra.cost) if is_told else None,
    )


def _metrics(used: Used, cost: float | None) -> Metrics:
    cached = used.prompt_tokens_details.cached_tokens if used.prompt_tokens_details else None
    return Metrics(
        prompt_tokens=used.prompt_tokens,
        completion_tokens=used.completion_tokens,
        cached_tokens=cached,
        cost_usd=cost,
    )


def _actions(said: Said, number: int) -> tuple[ToolCall, ...]:
    """Return what an answer wants done: its tool calls, or the one command in a fenced block."""
    if said.tool_calls:
        return tuple(
            ToolCall(
                tool_call_id=call.id,
                function_name=call.function.name,
                arguments=as_arguments(call.function.arguments),
            )
            for call in said.tool_calls
        )
    fenced = _FENCE.findall(as_text(said.content))
    return (command(f"action-{number}", fenced[0]),) if len(fenced) == 1 else ()


def _sum(numbers: Sequence[int | None]) -> int | None:
    told = [number for number in numbers if number is not None]
    return sum(told) if told else None
