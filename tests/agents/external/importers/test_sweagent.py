"""Files are written by hand in SWE-agent's format."""

import json
from typing import Any

import pytest

from assay.agents.external.importers import sweagent
from assay.agents.trajectory import Trajectory


def read(content: Any) -> Trajectory:
    return sweagent.read(json.dumps(content).encode())


OLD_TURN = {
    "action": "ls -F\n",
    "observation": "calc.py",
    "response": "I look.\n```\nls -F\n```",
    "thought": "I look.",
    "state": '{"open_file": "n/a", "working_dir": "/calc"}\n',
}


def test_version_0_is_read() -> None:
    found = read(
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
        }
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
    assert [call.arguments["command"] for call in acts.tool_calls or ()] == ["ls -F\n"]
    assert acts.observation is not None
    assert [result.content for result in acts.observation.results] == ["calc.py"]
    assert acts.extra == {"state": {"open_file": "n/a", "working_dir": "/calc"}}
    assert idles.tool_calls is None
    assert idles.observation is None
    assert idles.extra == {"state": "torn {"}
    assert found.final_metrics is not None
    assert found.final_metrics.total_cost_usd == 0.5
    assert (found.final_metrics.total_prompt_tokens, found.final_metrics.total_completion_tokens) == (100, 20)
    assert found.final_metrics.extra == {"api_calls": 2}
    assert found.extra == {"exit_status": "submitted (exit_cost)", "submission": "diff", "environment": "swe_main"}


@pytest.mark.parametrize("as_text", [False, True])
def test_version_1_is_read_with_model_and_times(as_text: bool) -> None:
    config = {"agent": {"model": {"name": "gpt-4o"}}}
    found = read(
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
        }
    )
    assert (found.agent.name, found.agent.version, found.agent.model_name) == ("swe-agent", "1.1.0", "gpt-4o")
    assert [step.message for step in found.steps] == ["You may act.", OLD_TURN["response"]]
    assert found.steps[1].extra == {"state": {"open_file": "calc.py"}, "execution_time": 0.25}
