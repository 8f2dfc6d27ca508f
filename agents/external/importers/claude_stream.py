"""Importer for claude-code's ``--output-format=stream-json``: a line for each message and tool result, and for the end.

An answer of several parts is several lines with the same id; they become one step.
"""

from collections.abc import Sequence

from pydantic import JsonValue

from assay.agents.external.importers.common import LooseModel, assemble, json_lines, make_call, non_empty, plain_text
from assay.agents.trajectory import AgentInfo, FinalMetrics, Metrics, Observation, ObservationResult, Step, Trajectory


class _Part(LooseModel):
    type: str
    text: str = ""
    thinking: str = ""
    id: str = ""
    name: str = ""
    input: JsonValue = None
    tool_use_id: str = ""
    content: JsonValue = None


class _Usage(LooseModel):
    input_tokens: int = 0
    cache_read_input_tokens: int | None = 0
    cache_creation_input_tokens: int | None = 0
    output_tokens: int = 0

    @property
    def prompt(self) -> int:
        """All tokens of the prompt; the format has them in three parts."""
        return self.input_tokens + (self.cache_read_input_tokens or 0) + (self.cache_creation_input_tokens or 0)


class _Message(LooseModel):
    id: str = ""
    model: str | None = None
    content: str | tuple[_Part, ...] = ()
    usage: _Usage | None = None


class _Line(LooseModel):
    type: str
    subtype: str = ""
    session_id: str | None = None
    model: str | None = None
    claude_code_version: str | None = None
    message: _Message | None = None
    total_cost_usd: float | None = None
    num_turns: int | None = None
    usage: _Usage | None = None


def read(content: bytes) -> Trajectory:
    lines = tuple(json_lines(content, _Line))
    start = next((line for line in lines if line.type == "system"), _Line(type="system"))
    end = next((line for line in reversed(lines) if line.type == "result"), _Line(type="result"))
    usage = end.usage
    return assemble(
        AgentInfo(name="claude-code", version=start.claude_code_version or "unknown", model_name=start.model),
        _steps(lines),
        final=FinalMetrics(
            total_prompt_tokens=usage.prompt if usage else None,
            total_completion_tokens=usage.output_tokens if usage else None,
            total_cached_tokens=usage.cache_read_input_tokens if usage else None,
            total_cost_usd=end.total_cost_usd,
            extra=non_empty(turns=end.num_turns),
        ),
        extra=non_empty(exit_status=end.subtype),
        session_id=start.session_id,
    )


def _steps(lines: Sequence[_Line]) -> list[Step]:
    steps: list[Step] = []
    answer_id = ""
    for line in lines:
        if line.message is None:
            continue
        if line.type == "assistant":
            step = _agent_step(line.message)
            if line.message.id and answer_id == line.message.id:
                steps[-1] = _merge_lines(steps[-1], step)
            else:
                steps.append(step)
                answer_id = line.message.id
        elif line.type == "user" and _add_user_message(steps, line.message):
            answer_id = ""
    return steps


def _agent_step(message: _Message) -> Step:
    parts = message.content if not isinstance(message.content, str) else (_Part(type="text", text=message.content),)
    calls = tuple(make_call(part.id, part.name, part.input) for part in parts if part.type == "tool_use")
    return Step(
        source="agent",
        model_name=message.model,
        message="\n".join(part.text for part in parts if part.type == "text"),
        reasoning_content="\n".join(part.thinking for part in parts if part.type == "thinking") or None,
        tool_calls=calls or None,
        metrics=_metrics(message.usage) if message.usage else None,
    )


def _metrics(usage: _Usage) -> Metrics:
    return Metrics(
        prompt_tokens=usage.prompt, completion_tokens=usage.output_tokens, cached_tokens=usage.cache_read_input_tokens
    )


def _merge_lines(before: Step, more: Step) -> Step:
    """Merge two lines of one answer; the usage of the later line includes that of the earlier one."""
    texts = [text for text in (before.message, more.message) if isinstance(text, str) and text]
    reasoning = [text for text in (before.reasoning_content, more.reasoning_content) if text]
    return before.model_copy(
        update={
            "message": "\n".join(texts),
            "reasoning_content": "\n".join(reasoning) or None,
            "tool_calls": (*(before.tool_calls or ()), *(more.tool_calls or ())) or None,
            "metrics": more.metrics or before.metrics,
        }
    )


def _add_user_message(steps: list[Step], message: _Message) -> bool:
    """Add tool results to the steps that made the calls, and other text as a step; return whether there was text."""
    if isinstance(message.content, str):
        steps.append(Step(source="user", message=message.content))
        return True
    for part in message.content:
        if part.type == "tool_result":
            _add_result(steps, ObservationResult(source_call_id=part.tool_use_id, content=plain_text(part.content)))
    text = "\n".join(part.text for part in message.content if part.type == "text")
    if text:
        steps.append(Step(source="user", message=text))
    return bool(text)


def _add_result(steps: list[Step], result: ObservationResult) -> None:
    """Add a result to the last step with its call; a result without a call is dropped."""
    for at in reversed(range(len(steps))):
        if any(call.tool_call_id == result.source_call_id for call in steps[at].tool_calls or ()):
            before = steps[at].observation
            observation = Observation(results=(*(before.results if before else ()), result))
            steps[at] = steps[at].model_copy(update={"observation": observation})
            return
