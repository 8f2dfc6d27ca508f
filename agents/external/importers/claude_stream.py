"""claude-code's ``--output-format=stream-json``: a line for each message, result of a tool, and the end.

An answer of several parts comes as several lines with the same id; they are one step.
"""

from collections.abc import Sequence

from pydantic import Field, JsonValue

from assay.agents.external.importers.foreign import Foreign, as_arguments, as_text, assemble, known, lines_of
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


class Part(Foreign):
    """A part of a message: a text, a thought, a call of a tool or what came of one."""

    type: str
    text: str = ""
    thinking: str = ""
    id: str = ""
    name: str = ""
    input: JsonValue = None
    tool_use_id: str = ""
    content: JsonValue = None


class Used(Foreign):
    """Tokens; those of the prompt are in three parts."""

    input_tokens: int = 0
    cache_read_input_tokens: int | None = 0
    cache_creation_input_tokens: int | None = 0
    output_tokens: int = 0

    @property
    def prompt(self) -> int:
        """All tokens of the prompt."""
        return self.input_tokens + (self.cache_read_input_tokens or 0) + (self.cache_creation_input_tokens or 0)


class Said(Foreign):
    """A message."""

    id: str = ""
    model: str | None = None
    content: str | tuple[Part, ...] = ()
    usage: Used | None = None


class Line(Foreign):
    """One line."""

    type: str
    subtype: str = ""
    session_id: str | None = None
    model: str | None = None
    claude_code_version: str | None = None
    message: Said | None = Field(default=None)
    total_cost_usd: float | None = None
    num_turns: int | None = None
    usage: Used | None = None


def read(content: bytes) -> Trajectory:
    """Read a stream; raises ValueError if it is none."""
    lines = tuple(lines_of(content, Line))
    start = next((line for line in lines if line.type == "system"), Line(type="system"))
    end = next((line for line in reversed(lines) if line.type == "result"), Line(type="result"))
    used = end.usage
    return assemble(
        AgentInfo(name="claude-code", version=start.claude_code_version or "unknown", model_name=start.model),
        _steps(lines),
        final=FinalMetrics(
            total_prompt_tokens=used.prompt if used else None,
            total_completion_tokens=used.output_tokens if used else None,
            total_cached_tokens=used.cache_read_input_tokens if used else None,
            total_cost_usd=end.total_cost_usd,
            extra=known(turns=end.num_turns),
        ),
        extra=known(exit_status=end.subtype),
        session_id=start.session_id,
    )


def _steps(lines: Sequence[Line]) -> list[Step]:
    steps: list[Step] = []
    ids: list[str] = []
    for line in lines:
        said = line.message
        if said is None:
            continue
        if line.type == "assistant":
            if said.id and ids[-1:] == [said.id]:
                steps[-1] = _joined(steps[-1], _answer(said))
            else:
                steps.append(_answer(said))
                ids.append(said.id)
        elif line.type == "user":
            _hear(steps, ids, said)
    return steps


def _answer(said: Said) -> Step:
    parts = said.content if not isinstance(said.content, str) else (Part(type="text", text=said.content),)
    calls = tuple(
        ToolCall(tool_call_id=part.id, function_name=part.name, arguments=as_arguments(part.input))
        for part in parts
        if part.type == "tool_use"
    )
    used = said.usage
    return Step(
        source="agent",
        model_name=said.model,
        message="\n".join(part.text for part in parts if part.type == "text"),
        reasoning_content="\n".join(part.thinking for part in parts if part.type == "thinking") or None,
        tool_calls=calls or None,
        metrics=Metrics(
            prompt_tokens=used.prompt,
            completion_tokens=used.output_tokens,
            cached_tokens=used.cache_read_input_tokens,
        )
        if used
        else None,
    )


def _joined(before: Step, more: Step) -> Step:
    """Return two lines of one answer as one step; each tells the tokens so far."""
    texts = [text for text in (before.message, more.message) if isinstance(text, str) and text]
    thoughts = [text for text in (before.reasoning_content, more.reasoning_content) if text]
    return before.model_copy(
        update={
            "message": "\n".join(texts),
            "reasoning_content": "\n".join(thoughts) or None,
            "tool_calls": (*(before.tool_calls or ()), *(more.tool_calls or ())) or None,
            "metrics": more.metrics or before.metrics,
        }
    )


def _hear(steps: list[Step], ids: list[str], said: Said) -> None:
    """Add results to the step that called for them; the user's other words are steps of their own."""
    if isinstance(said.content, str):
        steps.append(Step(source="user", message=said.content))
        ids.append("")
        return
    results = [
        ObservationResult(source_call_id=part.tool_use_id, content=as_text(part.content))
        for part in said.content
        if part.type == "tool_result"
    ]
    for result in results:
        at = _caller(steps, result.source_call_id)
        if at is not None:
            before = steps[at].observation
            told = Observation(results=(*(before.results if before else ()), result))
            steps[at] = steps[at].model_copy(update={"observation": told})
    words = "\n".join(part.text for part in said.content if part.type == "text")
    if words:
        steps.append(Step(source="user", message=words))
        ids.append("")


def _caller(steps: Sequence[Step], call: str | None) -> int | None:
    for place in reversed(range(len(steps))):
        if any(each.tool_call_id == call for each in steps[place].tool_calls or ()):
            return place
    return None
