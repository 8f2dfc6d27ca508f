"""Files are written by hand in codex's format."""

import json
from typing import Any

from assay.agents.external.importers import codex_json
from assay.agents.trajectory import Trajectory


def read(*lines: dict[str, Any]) -> Trajectory:
    text = "a warning of the program\n" + "".join(json.dumps(line) + "\n" for line in lines)
    return codex_json.read(text.encode())


def test_finished_items_become_steps() -> None:
    def item(**fields: Any) -> dict[str, Any]:
        return {"type": "item.completed", "item": fields}

    found = read(
        {"type": "thread.started", "thread_id": "t1"},
        {"type": "turn.started"},
        item(id="i0", type="reasoning", text="hm"),
        {"type": "item.started", "item": {"id": "i1", "type": "command_execution", "command": "ls"}},
        item(
            id="i1",
            type="command_execution",
            command="ls",
            aggregated_output="calc.py\n",
            exit_code=0,
            status="completed",
        ),
        item(id="i2", type="file_change", changes=[{"path": "calc.py", "kind": "update"}], status="completed"),
        item(id="i3", type="mcp_tool_call", server="s", tool="t", arguments={"a": 1}, result="r"),
        item(id="i4", type="error", message="careful"),
        item(id="i5", type="agent_message", text="Done."),
        {"type": "turn.completed", "usage": {"input_tokens": 10, "cached_input_tokens": 4, "output_tokens": 2}},
        {"type": "turn.completed", "usage": {"input_tokens": 20, "cached_input_tokens": 5, "output_tokens": 3}},
        {"type": "turn.failed", "error": {"message": "context_length_exceeded"}},
    )
    ran, changed, called, warned, said = found.steps
    assert ran.observation is not None
    assert [call.arguments["command"] for call in ran.tool_calls or ()] == ["ls"]
    assert ([result.content for result in ran.observation.results], ran.reasoning_content) == (["calc.py\n"], "hm")
    assert ran.extra == {"exit_code": 0, "status": "completed"}
    assert changed.reasoning_content is None
    assert changed.tool_calls is not None
    assert changed.tool_calls[0].arguments == {"changes": [{"path": "calc.py", "kind": "update"}]}
    assert called.tool_calls is not None
    assert (called.tool_calls[0].function_name, called.tool_calls[0].arguments) == ("s.t", {"a": 1})
    assert (warned.source, said.message) == ("system", "Done.")
    assert found.session_id == "t1"
    assert found.final_metrics is not None
    assert (found.final_metrics.total_prompt_tokens, found.final_metrics.total_completion_tokens) == (30, 5)
    assert found.final_metrics.total_cached_tokens == 9
    assert found.extra == {"problems": ["context_length_exceeded"]}
