"""Files are written by hand in claude-code's format."""

import json
from typing import Any

from assay.agents.external.importers import claude_stream
from assay.agents.trajectory import Trajectory


def read(*lines: dict[str, Any]) -> Trajectory:
    text = "a warning of the program\n" + "".join(json.dumps(line) + "\n" for line in lines)
    return claude_stream.read(text.encode())


def test_lines_of_one_answer_become_one_step_with_its_results() -> None:
    def answer(name: str, *parts: dict[str, Any], output: int = 5) -> dict[str, Any]:
        usage = {
            "input_tokens": 3,
            "cache_read_input_tokens": 90,
            "cache_creation_input_tokens": 7,
            "output_tokens": output,
        }
        return {"type": "assistant", "message": {"id": name, "model": "toy", "content": list(parts), "usage": usage}}

    def outcome(call: str, content: Any) -> dict[str, Any]:
        part = {"type": "tool_result", "tool_use_id": call, "content": content}
        return {"type": "user", "message": {"role": "user", "content": [part]}}

    found = read(
        {"type": "system", "subtype": "init", "session_id": "s1", "model": "toy", "claude_code_version": "2.1"},
        answer("m1", {"type": "thinking", "thinking": "hm"}, output=1),
        answer("m1", {"type": "text", "text": "I look."}),
        answer("m1", {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "ls"}}, output=9),
        answer("m1", {"type": "tool_use", "id": "c2", "name": "Read", "input": {"path": "calc.py"}}, output=12),
        outcome("c2", [{"type": "text", "text": "def add"}]),
        outcome("c1", "calc.py"),
        {"type": "user", "message": {"role": "user", "content": "Go on."}},
        answer("m2", {"type": "text", "text": "Done."}),
        {
            "type": "result",
            "subtype": "success",
            "total_cost_usd": 0.125,
            "num_turns": 2,
            "usage": {"input_tokens": 6, "cache_read_input_tokens": 180, "output_tokens": 17},
        },
    )
    first, said, last = found.steps
    assert (first.message, first.reasoning_content) == ("I look.", "hm")
    assert [call.function_name for call in first.tool_calls or ()] == ["Bash", "Read"]
    assert first.observation is not None
    assert {result.source_call_id: result.content for result in first.observation.results} == {
        "c1": "calc.py",
        "c2": "def add",
    }
    assert first.metrics is not None
    assert (first.metrics.prompt_tokens, first.metrics.completion_tokens, first.metrics.cached_tokens) == (100, 12, 90)
    assert (said.source, said.message) == ("user", "Go on.")
    assert last.message == "Done."
    assert found.session_id == "s1"
    assert found.agent.version == "2.1"
    assert found.final_metrics is not None
    assert (found.final_metrics.total_cost_usd, found.final_metrics.total_prompt_tokens) == (0.125, 186)
    assert found.extra == {"exit_status": "success"}
