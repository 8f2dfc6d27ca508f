"""A run as a job folder of Harbor, by hand-written goldens and by Harbor itself."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.harness.domain import Outcome
from assay.harness.errors import DataError
from assay.harness.exports import find, harbor
from assay.harness.exports.base import RunToExport
from assay.harness.exports.write import problems, write
from assay.instances.dataset.imports import import_predictions
from exported import mixed, trajectories
from exported_json import damaged
from other_tools import run_with
from submitted import SPOILED, spoil

READER = Path(__file__).with_name("read_with_harbor.py")


@pytest.fixture
def run(make_run: Callable[..., RunToExport], tmp_path: Path) -> RunToExport:
    return make_run(
        *mixed(),
        missing=("a-7",),
        patches={"a-3": "", "a-4": "no diff \ud800"},
        outputs={"a-1": "2 passed\n"},
        model="bash_loop.org/m-1",
        trajectories=trajectories(tmp_path),
    )


@pytest.fixture
def job(run: RunToExport, tmp_path: Path) -> Path:
    write(find("harbor"), run, tmp_path / "jobs")
    return tmp_path / "jobs" / "nightly"


def read(path: Path) -> Any:
    return json.loads(path.read_bytes())


def test_each_evaluation_is_a_trial_with_its_files(job: Path) -> None:
    assert sorted(path.name for path in job.iterdir()) == [
        *(f"a-{number}" for number in range(1, 7)),
        "config.json",
        "result.json",
    ]
    assert sorted(str(path.relative_to(job / "a-1")) for path in (job / "a-1").rglob("*") if path.is_file()) == [
        "agent/trajectory.json",
        "artifacts/logs/artifacts/model.patch",
        "artifacts/manifest.json",
        "config.json",
        "lock.json",
        "result.json",
        "trial.log",
        "verifier/ctrf.json",
        "verifier/reward.json",
        "verifier/test-stdout.txt",
        "verifier/verdict.json",
    ]
    assert (job / "a-2/agent/a-2.md").read_text() == "# How it went\n"
    assert (job / "a-1/verifier/test-stdout.txt").read_text() == "2 passed\n"


def test_a_trial_says_who_solved_it_and_what_it_cost(job: Path) -> None:
    result = read(job / "a-1/result.json")
    assert result["agent_info"] == {
        "name": "bash_loop",
        "version": "1",
        "model_info": {"name": "m-1", "provider": "org"},
    }
    assert result["agent_result"] == {
        "n_input_tokens": 10,
        "n_cache_tokens": 3,
        "n_output_tokens": 4,
        "cost_usd": 0.5,
        "metadata": {"status": "limit_cost"},
    }
    assert result["agent_execution"] == {
        "started_at": "2026-11-23T00:00:00+00:00",
        "finished_at": "2026-11-23T00:00:05+00:00",
    }
    assert read(job / "a-2/result.json")["agent_info"] == result["agent_info"]
    assert set(read(job / "a-2/result.json")["agent_result"].values()) == {None}


def test_a_name_that_no_trajectory_parts_is_the_agents(make_run: Callable[..., RunToExport], tmp_path: Path) -> None:
    run = make_run(*mixed(), model="bash_loops.m", trajectories=trajectories(tmp_path))
    files = dict(harbor.files(run))
    expected = {"name": "bash_loops.m", "version": "", "model_info": None}
    assert json.loads(files["nightly/a-1/result.json"])["agent_info"] == expected


def test_a_failed_environment_or_engine_has_an_exception_and_no_reward(job: Path) -> None:
    for number, reward in ((1, 1.0), (2, 0.0), (3, 0.0), (4, 0.0), (5, None), (6, None)):
        trial = job / f"a-{number}"
        result = read(trial / "result.json")
        assert (result["verifier_result"] or {}).get("rewards") == (None if reward is None else {"reward": reward})
        assert (trial / "verifier/reward.json").is_file() is (reward is not None)
        assert (result["finished_at"] is None) is (reward is None)
        assert (result["exception_info"] is None) is (reward is not None)
    failed = read(job / "a-5/result.json")["exception_info"]
    assert (failed["exception_type"], failed["exception_message"]) == ("RuntimeRequestError", "the engine\nis gone")
    assert read(job / "a-6/result.json")["exception_info"]["exception_type"] == "SandboxBuildFailedError"
    assert (job / "a-6/exception.txt").read_text() == "no image"
    assert set(harbor.EXCEPTIONS) == {Outcome.ENV_ERROR, Outcome.INFRA_ERROR}


def test_the_job_counts_what_was_scored(job: Path) -> None:
    whole = read(job / "result.json")
    assert whole["n_total_trials"] == 7
    stats = whole["stats"]
    assert {name: stats[name] for name in stats if name.endswith("_trials")} == {
        "n_completed_trials": 6,
        "n_errored_trials": 2,
        "n_pending_trials": 1,
    }
    assert stats["evals"]["bash_loop__m-1__rows"] == {
        "n_trials": 4,
        "n_errors": 2,
        "metrics": [{"mean": 0.25}],
        "reward_stats": {"reward": {"1.0": ["a-1"], "0.0": ["a-2", "a-3", "a-4"]}},
        "exception_stats": {"RuntimeRequestError": ["a-5"], "SandboxBuildFailedError": ["a-6"]},
    }
    assert (stats["n_input_tokens"], stats["cost_usd"]) == (10, 0.5)


def test_tests_are_in_the_common_report_format(job: Path) -> None:
    results = read(job / "a-2/verifier/ctrf.json")["results"]
    assert results["summary"] | {"start": 0} == {
        "tests": 2, "passed": 1, "failed": 1, "skipped": 0, "other": 0, "pending": 0, "start": 0, "stop": 0,
    }  # fmt: skip
    assert results["tests"][0] == {
        "name": "tests/test_calc.py::test_add",
        "status": "failed",
        "rawStatus": "failed",
        "duration": 0,
        "tags": ["fail_to_pass"],
    }
    late = read(job / "a-4/verifier/ctrf.json")["results"]["tests"]
    assert {each["rawStatus"] for each in late} == {"missing"}
    assert {each["status"] for each in late} == {"other"}


def test_a_good_folder_has_no_problem_and_its_predictions_come_back(job: Path, run: RunToExport) -> None:
    assert problems(find("harbor"), job.parent) == []
    assert import_predictions(job.parent).predictions == run.predictions
    assert import_predictions(job).notes == ()


def test_the_mark_of_an_oracle_comes_back(make_run: Callable[..., RunToExport], tmp_path: Path) -> None:
    run = make_run(*mixed(), settings={"oracle": "hints"})
    write(find("harbor"), run, tmp_path / "jobs")
    assert {each.oracle for each in import_predictions(tmp_path / "jobs").predictions} == {"hints"}


def test_two_exports_of_a_run_are_equal(run: RunToExport) -> None:
    assert list(harbor.files(run)) == list(harbor.files(run))


@pytest.mark.parametrize("how", SPOILED["harbor"], ids=str)
def test_a_wrong_value_is_a_problem_that_names_it(job: Path, how: dict[str, str]) -> None:
    spoil(job, how)
    found = problems(find("harbor"), job.parent)
    assert (found[0].file, found[0].field) == (f"nightly/{how['file']}", how["field"])


@pytest.mark.parametrize("name", ["a-1/config.json", "a-2/lock.json", "a-3/artifacts/manifest.json", "config.json"])
def test_a_missing_file_is_a_problem(job: Path, name: str) -> None:
    (job / name).unlink()
    assert [each.file for each in problems(find("harbor"), job.parent)] == [f"nightly/{name}"]


def test_a_missing_patch_and_a_missing_job_are_problems(job: Path, tmp_path: Path) -> None:
    (job / "a-1/artifacts/logs/artifacts/model.patch").unlink()
    assert [each.file for each in problems(find("harbor"), job.parent)] == ["nightly/a-1/artifacts"]
    (tmp_path / "empty").mkdir()
    assert "holds no job" in str(problems(find("harbor"), tmp_path / "empty")[0])


def test_a_damaged_file_is_a_problem(job: Path) -> None:
    (job / "a-1/result.json").write_text("{")
    assert "is not JSON" in str(problems(find("harbor"), job.parent)[0])


def test_a_damaged_trajectory_is_an_error_that_names_it(run: RunToExport) -> None:
    run.trajectories["a-1"].write_text("{")
    with pytest.raises(DataError, match=r"trajectory.json: is not JSON: .* leave it out with --trajectories"):
        list(harbor.files(run))


@given(data=st.data())
def test_no_damage_to_a_folder_is_a_traceback(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    one = folder / "job/a-1"
    for name in ("config.json", "lock.json", "trial.log", "artifacts/manifest.json", "artifacts/model.patch"):
        (one / name).parent.mkdir(parents=True, exist_ok=True)
        (one / name).write_text("{}")
    (one / "agent").mkdir()
    for path, document in {
        one / "result.json": {"trial_name": "a-1", "verifier_result": {"rewards": {"reward": 1.0}}, "finished_at": "x"},
        one / "agent/trajectory.json": {"schema_version": "ATIF-v1.8", "steps": [{"step_id": 1}]},
        folder / "job/result.json": {"n_total_trials": 1, "stats": {"n_completed_trials": 1, "n_pending_trials": 0}},
        folder / "job/config.json": {"job_name": "job"},
    }.items():
        path.write_text(json.dumps(data.draw(damaged(document))))
    assert all(isinstance(each.remedy, str) for each in problems(find("harbor"), folder))


@pytest.mark.network
def test_harbor_reads_it_with_its_models_and_its_viewer(job: Path) -> None:
    seen = json.loads(run_with(["harbor>=0.24", "httpx2"], "python", str(READER), str(job.parent), python=(3, 12)))
    scores = {1: 1.0, 2: 0.0, 3: 0.0, 4: 0.0}
    assert seen["trials"] == {
        f"a-{number}": {"reward": scores[number]} if number in scores else None for number in range(1, 7)
    }
    assert {each["name"]: each["reward"] for each in seen["summaries"]} == {
        f"a-{number}": scores.get(number) for number in range(1, 7)
    }
    assert {each["task_name"]: each["avg_reward"] for each in seen["tasks"]} == {
        f"a-{number}": scores.get(number) for number in range(1, 7)
    }
    [shown] = seen["jobs"]
    assert (shown["n_total_trials"], shown["n_errored_trials"], shown["datasets"]) == (7, 2, ["rows"])
    assert len(seen["trajectories"]["a-1"]["steps"]) == 3
    assert seen["verifier"]["a-1"]["stdout"] == "2 passed\n"
    assert seen["verifier"]["a-1"]["reward"] == {"reward": 1.0}
    assert [each["path"] for each in seen["artifacts"]["a-1"]["files"]] == ["logs/artifacts/model.patch"]
