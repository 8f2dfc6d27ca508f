"""Files are written by hand in mini-swe-agent's format."""

import json
from typing import Any

import pytest

from assay.agents.external.importers import import_trajectory, mini
from assay.agents.trajectory import Step, Trajectory
from assay.harness.errors import DataError


def read(content: Any) -> Trajectory:
    return mini.read(json.dumps(content).encode())


def results_of(step: Step) -> list[object]:
    return [result.content for result in step.observation.results] if step.observation else []


def commands_of(step: Step) -> list[object]:
    return [call.arguments.get("command") for call in step.tool_calls or ()]


def test_tool_calls_are_read_with_their_results() -> None:
    def call(name: str, text: str) -> dict[str, Any]:
        return {
            "id": name,
            "type": "function",
            "function": {"name": "bash", "arguments": json.dumps({"command": text})},
        }

    usage = {"prompt_tokens": 70, "completion_tokens": 8, "prompt_tokens_details": {"cached_tokens": 64}}
    found = read(
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
        }
    )
    assert [step.source for step in found.steps] == ["system", "user", "agent", "agent", "user", "agent", "system"]
    twice, nothing, last = found.steps[2], found.steps[3], found.steps[5]
    assert commands_of(twice) == ["ls", "pwd"]
    assert results_of(twice) == ["calc.py", "/calc"]
    assert (twice.timestamp, last.timestamp) == ("2023-11-14T22:13:20.500+00:00", None)
    assert twice.model_name == "toy-1"
    assert twice.metrics is not None
    assert (twice.metrics.prompt_tokens, twice.metrics.completion_tokens, twice.metrics.cached_tokens) == (70, 8, 64)
    assert (nothing.tool_calls, nothing.observation) == (None, None)
    assert nothing.metrics is not None
    assert nothing.metrics.cost_usd == 0.25
    assert (commands_of(last), results_of(last)) == (["echo done"], [])
    assert (found.agent.version, found.agent.model_name) == ("2.4.6", "openai/toy")
    assert found.final_metrics is not None
    assert found.final_metrics.total_cost_usd == 0.75
    assert found.final_metrics.total_prompt_tokens == 70
    assert found.extra == {"exit_status": "Submitted", "trajectory_format": "mini-swe-agent-1.1"}


def test_commands_in_fenced_blocks_are_read_with_their_results() -> None:
    found = read(
        [
            {"role": "system", "content": "You may act."},
            {"role": "user", "content": "add subtracts"},
            {"role": "assistant", "content": "I look.\n\n```bash\nls\ncat calc.py\n```\n"},
            {"role": "user", "content": "calc.py"},
            {"role": "assistant", "content": "```bash\na\n```\n```bash\nb\n```"},
            {"role": "user", "content": "One command, please."},
            {"role": "assistant", "content": "```mswea_bash_command\necho done\n```"},
        ]
    )
    assert [(step.source, commands_of(step), results_of(step)) for step in found.steps] == [
        ("system", [], []),
        ("user", [], []),
        ("agent", ["ls\ncat calc.py"], ["calc.py"]),
        ("agent", [], []),
        ("user", [], []),
        ("agent", ["echo done"], []),
    ]


@pytest.mark.parametrize(
    ("field", "content"),
    [
        ("info.config", {"messages": [], "info": {"config": []}}),
        ("info.config.model", {"messages": [], "info": {"config": {"model": "toy"}}}),
        ("prompt_tokens_details", [{"role": "x", "extra": {"response": {"usage": {"prompt_tokens_details": 3}}}}]),
        ("tool_calls.0.function.name", [{"role": "x", "tool_calls": [{"id": "1", "function": "ls"}]}]),
    ],
)
def test_part_of_another_type_is_named(field: str, content: Any) -> None:
    with pytest.raises(DataError, match=rf"^field [\w.]*{field}: this is not a trajectory in the format mini: "):
        import_trajectory("mini", json.dumps(content).encode())
