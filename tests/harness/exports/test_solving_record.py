import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.domain import Prediction
from assay.harness.errors import AssayError, DataError
from assay.harness.exports.chat_messages import make_messages
from assay.harness.exports.solving_record import SolvingAgent, SolvingRecord, read_record, solving_agent
from exported import trajectories
from exported_json import damaged


@pytest.fixture
def paths(tmp_path: Path) -> dict[str, Path]:
    return trajectories(tmp_path)


def test_a_record_of_a_solver_has_steps_usage_and_limit(paths: dict[str, Path]) -> None:
    record = read_record(paths["a-1"])
    assert (len(record.steps), record.status, record.seconds) == (3, "limit_cost", 7.5)
    assert record.totals.get("total_cost_usd") == 0.5
    assert record.limit == ("token", 2000.0)


@pytest.mark.parametrize(
    ("status", "budget", "limit"),
    [
        ("limit_cost", {"cost": 2.5, "tokens": 10}, ("cost", 2.5)),
        ("limit_cost", {"cost": None, "calls": 3}, ("turn", 3.0)),
        ("limit_cost", {}, None),
        ("limit_steps", {"steps": 50}, ("turn", 50.0)),
        ("limit_time", {"seconds": 60.5}, ("time", 60.5)),
        ("context_exceeded", {}, ("context", 0.0)),
        ("submitted", {"cost": 1.0}, None),
        ("", {}, None),
    ],
)
def test_the_limit_is_the_one_that_ended_the_solver(
    status: str, budget: dict[str, Any], limit: tuple[str, float] | None
) -> None:
    assert SolvingRecord(status=status, budget=budget).limit == limit


def test_another_format_and_no_file_are_an_empty_record(paths: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text('{"trajectory_format": "mini-swe-agent-1.1", "messages": []}')
    for path in (paths["a-2"], tmp_path / "other.json", None):
        assert read_record(path) == SolvingRecord(budget={"steps": None} if path else {})


def test_the_agent_is_that_of_the_first_trajectory_in_atif(paths: dict[str, Path]) -> None:
    assert solving_agent([paths["a-2"], paths["a-1"]]) == SolvingAgent("bash_loop", "1")
    assert solving_agent([paths["a-2"]]) == SolvingAgent()


@pytest.mark.parametrize(
    ("name", "model"),
    [("bash_loop.org/m", "org/m"), ("bash_loop", ""), ("bash_loops.m", None), ("my.bash_loop.m", None), ("", None)],
)
def test_the_model_is_the_rest_of_a_prediction_s_name(name: str, model: str | None) -> None:
    prediction = Prediction(instance_id="a", model=name)
    assert SolvingAgent("bash_loop").get_model(prediction) == model
    assert SolvingAgent().get_model(prediction) is None


def test_a_wrong_field_of_a_trajectory_is_named(paths: dict[str, Path]) -> None:
    document = json.loads(paths["a-1"].read_text())
    del document["steps"][2]["tool_calls"][0]["function_name"]
    paths["a-1"].write_text(json.dumps(document))
    with pytest.raises(DataError, match=r"field steps.2.tool_calls.0.function_name: is missing; .*--trajectories"):
        read_record(paths["a-1"])


@given(data=st.data())
def test_no_damage_to_a_record_is_a_traceback(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    paths = trajectories(tmp_path_factory.mktemp("solved"))
    for name in ("trajectory.json", "solution.json"):
        path = paths["a-1"].with_name(name)
        path.write_text(json.dumps(data.draw(damaged(json.loads(path.read_text())))))
    try:
        record = read_record(paths["a-1"])
    except AssayError as error:
        assert "\n" not in str(error)  # noqa: PT017
        return
    assert isinstance(make_messages(record.steps, "m"), list)
    assert record.limit is None or len(record.limit) == 2
