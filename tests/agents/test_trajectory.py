import json
from pathlib import Path
from threading import Thread

import pytest

from assay.agents.trajectory import (
    VERSION,
    AgentInfo,
    FinalMetrics,
    RecordedToolCall,
    Step,
    Trajectory,
    TrajectoryRecorder,
    action_step,
)
from planted import TEXT, find_left, has_counted_all, plant

WHO = AgentInfo(name="a", version="1")


def test_file_is_a_valid_document_after_every_step(tmp_path: Path) -> None:
    file = tmp_path / "trajectory.json"
    recorder = TrajectoryRecorder(file, WHO, session_id="s")
    for number in (1, 2, 3):
        step = recorder.add(Step(source="agent", message=f'said "{number}"\n\u00e4'))
        assert step.step_id == number
        assert step.timestamp
        read = Trajectory.model_validate_json(file.read_bytes())
        assert read == recorder.trajectory()
        assert (read.schema_version, read.session_id, len(read.steps)) == (VERSION, "s", number)
    assert [path.name for path in tmp_path.iterdir()] == ["trajectory.json"]


def test_finish_adds_the_final_fields(tmp_path: Path) -> None:
    file = tmp_path / "trajectory.json"
    recorder = TrajectoryRecorder(file, WHO)
    assert recorder.finish() is None
    assert not file.exists()
    recorder.add(Step(source="user", message="hi"))
    recorder.finish(final_metrics=FinalMetrics(total_steps=1), extra={"why": "over"})
    document = json.loads(file.read_text())
    assert (document["final_metrics"], document["extra"]) == ({"total_steps": 1}, {"why": "over"})


def test_given_time_is_kept() -> None:
    recorder = TrajectoryRecorder(None, WHO)
    assert (
        recorder.add(Step(source="user", message="", timestamp="2020-01-01T00:00:00Z")).timestamp
        == "2020-01-01T00:00:00Z"
    )


def test_steps_of_several_threads_are_all_kept(tmp_path: Path) -> None:
    recorder = TrajectoryRecorder(tmp_path / "trajectory.json", WHO)
    threads = [Thread(target=recorder.add, args=(Step(source="agent", message=str(n)),)) for n in range(20)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    read = Trajectory.model_validate_json((tmp_path / "trajectory.json").read_bytes())
    assert [step.step_id for step in read.steps] == list(range(1, 21))
    assert {step.message for step in read.steps} == {str(n) for n in range(20)}


def test_action_step_links_the_result_to_its_call() -> None:
    call = RecordedToolCall(tool_call_id="7", function_name="bash", arguments={"command": "ls"})
    step = action_step(call, "a.py", exit_code=0)
    assert (step.source, step.llm_call_count, step.tool_calls) == ("agent", 0, (call,))
    assert step.observation is not None
    (result,) = step.observation.results
    assert (result.source_call_id, result.content, result.extra) == ("7", "a.py", {"exit_code": 0})


def test_action_step_without_a_result_has_no_observation() -> None:
    call = RecordedToolCall(tool_call_id="7", function_name="bash", arguments={})
    assert action_step(call, None).observation is None


def test_no_secret_is_written_and_each_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    recorder = TrajectoryRecorder(tmp_path / "trajectory.json", WHO)
    call = RecordedToolCall(tool_call_id="1", function_name="bash", arguments={"command": TEXT})
    recorder.add(action_step(call, TEXT, said=TEXT))
    assert not find_left((tmp_path / "trajectory.json").read_bytes())
    recorder.finish(extra={"log": TEXT})
    written = (tmp_path / "trajectory.json").read_bytes()
    assert not find_left(written)
    assert has_counted_all(json.loads(written)["extra"]["redacted"], 4)
    assert Trajectory.model_validate_json(written).steps[0].observation
