import json
from collections.abc import Callable
from pathlib import Path

import pytest

from acting_solvers import solver_of
from assay.agents.sampling.solve import SolveJob, SolveResult, solve
from assay.agents.solvers.replay_solver import ReplaySettings, ReplaySolver
from assay.agents.trajectory import AgentInfo, Step, TrajectoryRecorder
from assay.harness.domain import Instance
from assay.harness.errors import UserError

PATCH = "diff --git a/new.py b/new.py\nnew file mode 100644\n--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+x = 1\n"
MISFIT = (
    PATCH.replace("new file mode 100644\n", "")
    .replace("/dev/null", "a/new.py")
    .replace("-0,0", "-1 ")
    .replace("+1 @@\n", "+1 @@\n-y\n")
)

Replay = Callable[[Path], SolveResult]


@pytest.fixture
def replay(tmp_path: Path, instance: Instance) -> Replay:
    def replay(source: Path) -> SolveResult:
        return solve(SolveJob(instance), solver_of(tmp_path, ReplaySolver(ReplaySettings(source=source)), [instance]))

    return replay


def write(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_replay_applies_a_predictions_file(replay: Replay, tmp_path: Path, instance: Instance) -> None:
    row = {"instance_id": instance.id.upper(), "model_name_or_path": "m", "model_patch": PATCH}
    solution = replay(write(tmp_path / "preds.jsonl", json.dumps(row) + "\n")).solution
    assert solution.status == "submitted"
    assert "+x = 1" in solution.patch


@pytest.mark.parametrize("name", ["{id}/patch.diff", "{id}.patch", "instances/{id}/0/patch.diff"])
def test_replay_applies_a_folder_of_patches(replay: Replay, tmp_path: Path, instance: Instance, name: str) -> None:
    write(tmp_path / "given" / name.replace("{id}", instance.id), PATCH)
    assert "+x = 1" in replay(tmp_path / "given").solution.patch


def test_replay_copies_a_recorded_trajectory(replay: Replay, tmp_path: Path, instance: Instance) -> None:
    folder = tmp_path / "given" / instance.id
    write(folder / "patch.diff", PATCH)
    recorder = TrajectoryRecorder(folder / "trajectory.json", AgentInfo(name="other", version="9"))
    recorder.add(Step(source="agent", message="I looked", timestamp="2024-01-01T00:00:00Z"))
    trajectory = replay(tmp_path / "given").solution.trajectory
    assert trajectory
    assert [(step.message, step.timestamp) for step in trajectory.steps] == [("I looked", "2024-01-01T00:00:00Z")]


def test_patch_that_does_not_apply_is_the_outcome_s_patch(replay: Replay, tmp_path: Path, instance: Instance) -> None:
    write(tmp_path / "given" / f"{instance.id}.patch", MISFIT)
    solution = replay(tmp_path / "given").solution
    assert (solution.patch, solution.error) == (MISFIT, "the recorded patch does not apply")


def test_instance_without_a_record_is_an_agent_error(replay: Replay, tmp_path: Path, instance: Instance) -> None:
    (tmp_path / "given").mkdir()
    solution = replay(tmp_path / "given").solution
    assert (solution.status, solution.error) == ("agent_error", f"nothing is recorded for {instance.id}")


def test_malformed_trajectory_is_a_user_error_of_one_line(replay: Replay, tmp_path: Path, instance: Instance) -> None:
    folder = tmp_path / "given" / instance.id
    write(folder / "patch.diff", PATCH)
    write(folder / "trajectory.json", '{"history": []}')
    with pytest.raises(UserError, match=r"trajectory.json is no trajectory in ATIF: .*; import it first"):
        replay(tmp_path / "given")
    with pytest.raises(UserError, match="nothing to replay"):
        ReplaySolver(ReplaySettings(source=tmp_path / "nowhere"))
