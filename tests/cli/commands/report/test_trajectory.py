import json
from collections.abc import Callable
from pathlib import Path


def test_an_external_agent_s_trajectory_is_converted_to_atif(assay: Callable, in_folder: Path) -> None:
    said = [{"role": "user", "content": "add subtracts"}, {"role": "assistant", "content": "```bash\nls\n```"}]
    Path("mini.traj.json").write_text(json.dumps(said))
    done = assay("report", "trajectory", "mini.traj.json", "--from", "mini")
    assert done.code == 0
    assert done.json["schema_version"] == "ATIF-v1.8"
    assert done.json["steps"][1]["tool_calls"][0]["arguments"] == {"command": "ls"}
    shown = assay("report", "trajectory", "mini.traj.json", "--from", "mini", "-o", "ours.json")
    assert "2 steps with 1 action of mini-swe-agent unknown in ours.json" in shown.out
    assert json.loads(Path("ours.json").read_text()) == done.json
    assay("report", "trajectory", "mini.traj.json", "--from", "sweagent").refuses(
        "mini.traj.json: this is not a trajectory in the format sweagent"
    )
