"""codex's ``exec --json``: a line for each item that the agent has finished, and for the turns around them."""

from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from assay.agents.external.importers.foreign import (
    Foreign,
    as_arguments,
    as_text,
    assemble,
    command,
    known,
    lines_of,
    result,
)
from assay.agents.trajectory import AgentInfo, FinalMetrics, Step, ToolCall, Trajectory


class Item(Foreign):
    """Something said or done."""

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


class Used(Foreign):
    """Tokens of a turn."""

    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0


class Problem(Foreign):
    """What went wrong."""

    message: str = ""


class Line(Foreign):
    """One line."""

    type: str
    thread_id: str | None = None
    item: Item | None = None
    usage: Used | None = None
    error: Problem | None = None
    message: str = ""


def read(content: bytes) -> Trajectory:
    """Read a stream; raises ValueError if it is none."""
    lines = tuple(lines_of(content, Line))
    used = [line.usage for line in lines if line.type == "turn.completed" and line.usage]
    problems = [_problem(line) for line in lines if line.type in {"turn.failed", "error"}]
    return assemble(
        AgentInfo(name="codex", version="unknown"),
        _steps(lines),
        final=FinalMetrics(
            total_prompt_tokens=sum(each.input_tokens for each in used) if used else None,
            total_completion_tokens=sum(each.output_tokens for each in used) if used else None,
            total_cached_tokens=sum(each.cached_input_tokens for each in used) if used else None,
        ),
        extra=known(problems=list(problems)),
        session_id=next((line.thread_id for line in lines if line.thread_id), None),
    )


def _problem(line: Line) -> str:
    return line.error.message if line.error else line.message


def _steps(lines: Sequence[Line]) -> Iterator[Step]:
    """Yield a step for each finished item; a thought belongs to the item that follows it."""
    thought = ""
    for line in lines:
        if line.type != "item.completed" or line.item is None:
            continue
        if line.item.type == "reasoning":
            thought = f"{thought}\n{line.item.text}".strip()
            continue
        yield _step(line.item).model_copy(update={"reasoning_content": thought or None})
        thought = ""


def _step(item: Item) -> Step:
    if item.type == "agent_message":
        return Step(source="agent", message=item.text)
    if item.type == "error":
        return Step(source="system", message=item.message)
    call, told = _action(item)
    return Step(
        source="agent",
        message="",
        tool_calls=(call,),
        observation=result(item.id, told) if told else None,
        extra=known(exit_code=item.exit_code, status=item.status),
    )


def _action(item: Item) -> tuple[ToolCall, str]:
    """Return what an item did, and what came of it."""
    if item.type == "command_execution":
        return command(item.id, item.command), item.aggregated_output
    if item.type == "mcp_tool_call":
        name, given = f"{item.server}.{item.tool}", as_arguments(item.arguments)
        return ToolCall(tool_call_id=item.id, function_name=name, arguments=given), as_text(item.result)
    given = known(changes=item.changes, query=item.query, text=item.text) or {}
    return ToolCall(tool_call_id=item.id, function_name=item.type or "unknown", arguments=given), ""
