"""Importer for codex's ``exec --json``: a line for each finished item, and for the start and end of each turn."""

from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from assay.agents.external.importers.common import (
    LooseModel,
    assemble,
    bash_call,
    json_lines,
    make_call,
    non_empty,
    plain_text,
    single_result,
)
from assay.agents.trajectory import AgentInfo, FinalMetrics, RecordedToolCall, Step, Trajectory


class _Item(LooseModel):
    id: str = ""
    type: str = ""
    text: str = ""
    command: str = ""
    aggregated_output: str = ""
    exit_code: int | None = None
    changes: JsonValue = None
    server: str = ""
    tool: str = ""
    arguments: JsonValue = None
    result: JsonValue = None
    query: str = ""
    message: str = ""
    status: str | None = None


class _Usage(LooseModel):
    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0


class _Error(LooseModel):
    message: str = ""


class _Line(LooseModel):
    type: str
    thread_id: str | None = None
    item: _Item | None = None
    usage: _Usage | None = None
    error: _Error | None = None
    message: str = ""


def read(content: bytes) -> Trajectory:
    lines = tuple(json_lines(content, _Line))
    usages = [line.usage for line in lines if line.type == "turn.completed" and line.usage]
    problems = [
        line.error.message if line.error else line.message for line in lines if line.type in {"turn.failed", "error"}
    ]
    return assemble(
        AgentInfo(name="codex", version="unknown"),
        _steps(lines),
        final=FinalMetrics(
            total_prompt_tokens=sum(each.input_tokens for each in usages) if usages else None,
            total_completion_tokens=sum(each.output_tokens for each in usages) if usages else None,
            total_cached_tokens=sum(each.cached_input_tokens for each in usages) if usages else None,
        ),
        extra=non_empty(problems=list(problems)),
        session_id=next((line.thread_id for line in lines if line.thread_id), None),
    )


def _steps(lines: Sequence[_Line]) -> Iterator[Step]:
    """Yield a step for each finished item; reasoning belongs to the item after it."""
    reasoning = ""
    for line in lines:
        if line.type != "item.completed" or line.item is None:
            continue
        if line.item.type == "reasoning":
            reasoning = f"{reasoning}\n{line.item.text}".strip()
            continue
        yield _step(line.item).model_copy(update={"reasoning_content": reasoning or None})
        reasoning = ""


def _step(item: _Item) -> Step:
    if item.type == "agent_message":
        return Step(source="agent", message=item.text)
    if item.type == "error":
        return Step(source="system", message=item.message)
    call, result = _action(item)
    return Step(
        source="agent",
        message="",
        tool_calls=(call,),
        observation=single_result(item.id, result) if result else None,
        extra=non_empty(exit_code=item.exit_code, status=item.status),
    )


def _action(item: _Item) -> tuple[RecordedToolCall, str]:
    if item.type == "command_execution":
        return bash_call(item.id, item.command), item.aggregated_output
    if item.type == "mcp_tool_call":
        return make_call(item.id, f"{item.server}.{item.tool}", item.arguments), plain_text(item.result)
    arguments = non_empty(changes=item.changes, query=item.query, text=item.text)
    return make_call(item.id, item.type or "unknown", arguments), ""
