"""Trajectories of others in ATIF: each file here is written by hand after the form that its program writes."""

import json
from pathlib import Path
from typing import Any

import pytest

from assay.agents.external.importers import IMPORTERS, import_file, import_trajectory
from assay.agents.trajectory import Step, Trajectory
from assay.harness.errors import UserError


def read(form: str, content: Any) -> Trajectory:
    return import_trajectory(form, json.dumps(content).encode(), "a file")


def lines(form: str, *content: dict[str, Any]) -> Trajectory:
    text = "a warning of the program\n" + "".join(json.dumps(each) + "\n" for each in content)
    return import_trajectory(form, text.encode(), "a file")


def told(step: Step) -> list[object]:
    return [result.content for result in step.observation.results] if step.observation else []


def commands(step: Step) -> list[object]:
    return [call.arguments.get("command") for call in step.tool_calls or ()]


OLD_TURN = {
    "action": "ls -F\n",
    "observation": "calc.py",
    "response": "I look.\n```\nls -F\n```",
    "thought": "I look.",
    "state": '{"open_file": "n/a", "working_dir": "/calc"}\n',
}


def test_swe_agent_0() -> None:
    found = read(
        "sweagent",
        {
            "environment": "swe_main",
            "trajectory": [OLD_TURN, {**OLD_TURN, "action": "", "observation": None, "state": "torn {"}],
            "history": [
                {"role": "system", "content": "You may act."},
                {"role": "user", "content": "An example.", "is_demo": True},
                {"role": "assistant", "content": "I did.", "is_demo": True},
                {"role": "user", "content": "add subtracts"},
                {"role": "assistant", "content": "I look."},
                {"role": "user", "content": "calc.py"},
            ],
            "info": {
                "exit_status": "submitted (exit_cost)",
                "submission": "diff",
                "model_stats": {"instance_cost": 0.5, "tokens_sent": 100, "tokens_received": 20, "api_calls": 2},
            },
        },
    )
    assert [(step.step_id, step.source) for step in found.steps] == [
        (1, "system"),
        (2, "user"),
        (3, "agent"),
        (4, "user"),
        (5, "agent"),
        (6, "agent"),
    ]
    assert [bool(step.is_copied_context) for step in found.steps] == [False, True, True, False, False, False]
    acts, idles = found.steps[4:]
    assert acts.message == OLD_TURN["response"]
    assert commands(acts) == ["ls -F\n"]
    assert told(acts) == ["calc.py"]
    assert acts.extra == {"state": {"open_file": "n/a", "working_dir": "/calc"}}
    assert idles.tool_calls is None
    assert idles.observation is None
    assert idles.extra == {"state": "torn {"}
    assert found.final_metrics is not None
    assert found.final_metrics.total_cost_usd == 0.5
    assert (found.final_metrics.total_prompt_tokens, found.final_metrics.total_completion_tokens) == (100, 20)
    assert found.final_metrics.extra == {"api_calls": 2}
    assert found.extra == {
        "exit_status": "submitted (exit_cost)",
        "submission": "diff",
        "environment": "swe_main",
    }


@pytest.mark.parametrize("as_text", [False, True])
def test_swe_agent_1_tells_its_model_and_its_times(as_text: bool) -> None:
    config = {"agent": {"model": {"name": "gpt-4o"}}}
    found = read(
        "sweagent",
        {
            "trajectory": [
                {**OLD_TURN, "state": {"open_file": "calc.py"}, "execution_time": 0.25, "query": [{}], "extra_info": {}}
            ],
            "history": [
                {
                    "role": "system",
                    "content": [{"type": "text", "text": "You may act."}],
                    "message_type": "system_prompt",
                },
                {"role": "assistant", "content": "x", "tool_calls": [], "message_type": "action"},
            ],
            "info": {"swe_agent_version": "1.1.0", "model_stats": {}},
            "replay_config": json.dumps(config) if as_text else config,
        },
    )
    assert (found.agent.name, found.agent.version, found.agent.model_name) == ("swe-agent", "1.1.0", "gpt-4o")
    assert [step.message for step in found.steps] == ["You may act.", OLD_TURN["response"]]
    assert found.steps[1].extra == {"state": {"open_file": "calc.py"}, "execution_time": 0.25}


def test_mini_swe_agent_with_tool_calls() -> None:
    def call(name: str, text: str) -> dict[str, Any]:
        return {
            "id": name,
            "type": "function",
            "function": {"name": "bash", "arguments": json.dumps({"command": text})},
        }

    usage = {"prompt_tokens": 70, "completion_tokens": 8, "prompt_tokens_details": {"cached_tokens": 64}}
    found = read(
        "mini",
        {
            "info": {
                "model_stats": {"instance_cost": 0.75, "api_calls": 2},
                "config": {"model": {"model_name": "openai/toy"}, "agent": {}},
                "mini_version": "2.4.6",
                "exit_status": "Submitted",
                "submission": "",
            },
            "messages": [
                {"role": "system", "content": "You may act."},
                {"role": "user", "content": "add subtracts"},
                {
                    "role": "assistant",
                    "content": "Two at once.",
                    "tool_calls": [call("one", "ls"), call("two", "pwd")],
                    "extra": {"response": {"model": "toy-1", "usage": usage}, "cost": 0.5, "timestamp": 1700000000.5},
                },
                {"role": "tool", "tool_call_id": "one", "content": "calc.py"},
                {"role": "tool", "tool_call_id": "two", "content": [{"type": "text", "text": "/calc"}]},
                {
                    "role": "assistant",
                    "content": "No call.",
                    "tool_calls": None,
                    "extra": {"response": "torn", "cost": 0.25},
                },
                {"role": "user", "content": "Call a tool."},
                {"role": "assistant", "content": None, "tool_calls": [call("three", "echo done")]},
                {"role": "exit", "content": "", "extra": {"exit_status": "Submitted"}},
            ],
            "trajectory_format": "mini-swe-agent-1.1",
        },
    )
    assert [step.source for step in found.steps] == ["system", "user", "agent", "agent", "user", "agent", "system"]
    twice, nothing, last = found.steps[2], found.steps[3], found.steps[5]
    assert commands(twice) == ["ls", "pwd"]
    assert told(twice) == ["calc.py", "/calc"]
    assert twice.timestamp == "2023-11-14T22:13:20.500+00:00"
    assert twice.model_name == "toy-1"
    assert twice.metrics is not None
    assert (twice.metrics.prompt_tokens, twice.metrics.completion_tokens, twice.metrics.cached_tokens) == (70, 8, 64)
    assert (nothing.tool_calls, nothing.observation) == (None, None)
    assert nothing.metrics is not None
    assert nothing.metrics.cost_usd == 0.25
    assert (commands(last), told(last)) == (["echo done"], [])
    assert (found.agent.version, found.agent.model_name) == ("2.4.6", "openai/toy")
    assert found.final_metrics is not None
    assert found.final_metrics.total_cost_usd == 0.75
    assert found.final_metrics.total_prompt_tokens == 70
    assert found.extra == {"exit_status": "Submitted", "trajectory_format": "mini-swe-agent-1.1"}


def test_mini_swe_agent_with_commands_in_the_text() -> None:
    found = read(
        "mini",
        [
            {"role": "system", "content": "You may act."},
            {"role": "user", "content": "add subtracts"},
            {"role": "assistant", "content": "I look.\n\n```bash\nls\ncat calc.py\n```\n"},
            {"role": "user", "content": "calc.py"},
            {"role": "assistant", "content": "```bash\na\n```\n```bash\nb\n```"},
            {"role": "user", "content": "One command, please."},
            {"role": "assistant", "content": "```mswea_bash_command\necho done\n```"},
        ],
    )
    assert [(step.source, commands(step), told(step)) for step in found.steps] == [
        ("system", [], []),
        ("user", [], []),
        ("agent", ["ls\ncat calc.py"], ["calc.py"]),
        ("agent", [], []),
        ("user", [], []),
        ("agent", ["echo done"], []),
    ]


def test_claude_code() -> None:
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

    found = lines(
        "claude_stream",
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


def test_codex() -> None:
    def item(**fields: Any) -> dict[str, Any]:
        return {"type": "item.completed", "item": fields}

    found = lines(
        "codex_json",
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
    assert (commands(ran), told(ran), ran.reasoning_content) == (["ls"], ["calc.py\n"], "hm")
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


@pytest.mark.parametrize("form", IMPORTERS)
@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"{", b"[]", b'{"steps": []}', b"[1]", b'{"trajectory": []}'])
def test_what_is_none_is_told_by_its_name(form: str, content: bytes) -> None:
    with pytest.raises(UserError) as error:
        import_trajectory(form, content, "a.file")
    assert str(error.value).startswith("a.file: ")
    assert f"no trajectory of the form {form}" in str(error.value)
    assert "\n" not in str(error.value)


def test_an_unknown_form_and_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="known are claude_stream, codex_json, mini, sweagent"):
        import_trajectory("aider", b"", "x")
    with pytest.raises(UserError, match="gone cannot be read"):
        import_file("mini", tmp_path / "gone")


@pytest.mark.parametrize(
    "content", [b"[" * 100_000, b'[{"role": "assistant", "content": "x", "extra": {"timestamp": 1e300}}]']
)
def test_a_file_that_an_agent_made_up_does_no_harm(content: bytes) -> None:
    with pytest.raises(UserError, match=r"a\.file: this is no trajectory"):
        import_trajectory("mini", content, "a.file")
