"""A run as a log of Inspect, by hand-written goldens and, where inspect_ai is installed, by Inspect itself."""

import json
import math
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from assay.harness.errors import PluginError
from assay.harness.exports import find, inspect_log
from assay.harness.exports.atif import AtifCall, AtifStep
from assay.harness.exports.base import RunToExport
from assay.harness.exports.chat_messages import make_messages
from assay.harness.exports.write import problems, write
from assay.instances.dataset.imports import import_predictions
from exported import mixed, trajectories
from other_tools import ROOT, run_with

READER = Path(__file__).with_name("read_with_inspect.py")
needs_inspect = pytest.mark.skipif(
    find_spec("inspect_ai") is None, reason="no inspect_ai here; test_inspect_reads_it runs this where it is"
)


@pytest.fixture
def run(make_run: Callable[..., RunToExport], tmp_path: Path) -> RunToExport:
    return make_run(
        *mixed(),
        missing=("a-7",),
        patches={"a-3": "", "a-6": "no diff"},
        outputs={"a-2": f"{'x' * 9000}1 failed\n"},
        model="bash_loop.org/m-1",
        trajectories=trajectories(tmp_path),
    )


@pytest.fixture
def log(run: RunToExport) -> dict[str, Any]:
    return inspect_log.whole_log(run)


@pytest.fixture
def exported(run: RunToExport, tmp_path: Path) -> Path:
    write(find("inspect"), run, tmp_path / "logs")
    [path] = (tmp_path / "logs").iterdir()
    return path


def sample(log: dict[str, Any], name: str) -> dict[str, Any]:
    return next(each for each in log["samples"] if each["id"] == name)


def test_a_failed_environment_or_engine_is_an_error_without_a_score(log: dict[str, Any]) -> None:
    values = {each["id"]: each["scores"]["assay"]["value"] for each in log["samples"] if "scores" in each}
    assert values == {"a-1": "C", "a-2": "I", "a-3": "I", "a-4": "I"}
    errors = {each["id"]: each["error"]["message"] for each in log["samples"] if "error" in each}
    assert errors == {"a-5": "infra_error: the engine\nis gone", "a-6": "env_error: no image"}
    [score] = log["results"]["scores"]
    assert {name: each["value"] for name, each in score["metrics"].items()} == {
        "accuracy": 0.25,
        "stderr": pytest.approx(math.sqrt(0.25 * 0.75 / 3)),
    }
    assert (score["scored_samples"], log["results"]["total_samples"], log["results"]["completed_samples"]) == (4, 7, 4)
    assert log["results"]["metadata"]["resolved_rate"] == pytest.approx(1 / 6, abs=1e-6)


def test_a_score_says_why_and_holds_the_patch(log: dict[str, Any], run: RunToExport) -> None:
    score = sample(log, "a-2")["scores"]["assay"]
    assert score["answer"] == "unresolved"
    assert score["explanation"] == (
        "unresolved: 1 of 1 unfixed, 0 of 1 broken\n\nNot fixed:\n- `tests/test_calc.py::test_add`\n\n"
        "Flags:\n- `read_from_log`"
    )
    assert score["metadata"]["model_patch"] == run.predictions[1].patch
    assert score["metadata"]["unfixed"] == ["tests/test_calc.py::test_add"]
    assert score["metadata"]["test_output"].endswith("x1 failed\n")
    assert len(score["metadata"]["test_output"]) == inspect_log.TEST_OUTPUT


def test_no_sample_holds_the_answer(log: dict[str, Any], run: RunToExport) -> None:
    text = json.dumps(log)
    instance = next(run.evaluations()).instance
    assert json.dumps(instance.gold_patch)[1:-1] not in text
    assert json.dumps(instance.test_patch)[1:-1] not in text
    assert {each["target"] for each in log["samples"]} == {""}


def test_messages_limit_and_usage_come_from_the_trajectory(log: dict[str, Any]) -> None:
    one = sample(log, "a-1")
    assert one["messages"] == [
        {"role": "system", "content": "You fix issues."},
        {"role": "user", "content": "add subtracts"},
        {
            "role": "assistant",
            "content": [{"type": "reasoning", "reasoning": "Where is it?"}, {"type": "text", "text": "I look."}],
            "source": "generate",
            "model": "bash_loop.org/m-1",
            "tool_calls": [{"id": "c1", "function": "bash", "arguments": {"command": "ls"}, "type": "function"}],
        },
        {"role": "tool", "content": "calc.py <script>", "tool_call_id": "c1", "function": "bash"},
    ]
    assert one["limit"] == {"type": "token", "limit": 2000.0, "reason": "limit_cost"}
    assert one["model_usage"] == {
        "bash_loop.org/m-1": {
            "input_tokens": 7,
            "output_tokens": 4,
            "total_tokens": 14,
            "input_tokens_cache_read": 3,
            "total_cost": 0.5,
        }
    }
    assert one["total_time"] == 7.5
    assert log["stats"]["model_usage"] == one["model_usage"]


def test_without_a_trajectory_the_patch_is_the_answer(log: dict[str, Any], run: RunToExport) -> None:
    other = sample(log, "a-2")
    assert [each["role"] for each in other["messages"]] == ["user", "assistant"]
    assert other["messages"][1]["content"] == f"```diff\n{run.predictions[1].patch.rstrip()}\n```"
    assert other["output"]["choices"][0]["message"]["content"] == run.predictions[1].patch
    assert "limit" not in other


def test_actions_after_an_answer_are_its_calls() -> None:
    action: AtifCall = {"tool_call_id": "a", "function_name": "bash", "arguments": {}}
    steps: list[AtifStep] = [
        {"source": "agent", "message": "I run ls."},
        {"source": "agent", "message": "", "tool_calls": [action], "observation": {"results": [{"content": "x"}]}},
        {"source": "agent", "message": "", "tool_calls": [action]},
    ]
    found = make_messages(steps, "m")
    assert [each["role"] for each in found] == ["assistant", "tool", "assistant"]
    assert len(found[0]["tool_calls"]) == 1
    assert found[1] == {"role": "tool", "content": "x"}


def test_a_run_without_scores_has_no_metric(make_run: Callable[..., RunToExport]) -> None:
    failed = mixed()[4]
    results = inspect_log.whole_log(make_run(failed))["results"]
    assert (results["scores"], results["completed_samples"], results["total_samples"]) == ([], 0, 1)


def test_the_header_says_what_was_evaluated(log: dict[str, Any]) -> None:
    spec = log["eval"]
    assert (spec["task"], spec["model"], spec["created"]) == ("rows", "bash_loop.org/m-1", "2026-11-23T01:02:03+00:00")
    assert spec["dataset"]["sample_ids"] == [f"a-{number}" for number in range(1, 8)]


def test_a_text_that_is_no_utf8_is_written_readably(make_run: Callable[..., RunToExport]) -> None:
    log = inspect_log.whole_log(make_run(mixed()[0], patches={"a-1": "x\ud800"}))
    assert sample(log, "a-1")["output"]["choices"][0]["message"]["content"] == "x?"


def test_the_predictions_of_the_json_come_back(log: dict[str, Any], run: RunToExport, tmp_path: Path) -> None:
    """Inspect adds ``completion``; the patch of a sample without a score is in its metadata."""
    (tmp_path / "log.json").write_text(json.dumps(log))
    assert import_predictions(tmp_path / "log.json").predictions == run.predictions


def test_the_mark_of_an_oracle_comes_back(make_run: Callable[..., RunToExport], tmp_path: Path) -> None:
    log = inspect_log.whole_log(make_run(*mixed(), settings={"oracle": "hints"}))
    (tmp_path / "log.json").write_text(json.dumps(log))
    assert {each.oracle for each in import_predictions(tmp_path / "log.json").predictions} == {"hints"}


def test_the_missing_extra_is_named(run: RunToExport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("inspect_ai", "inspect_ai.log"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(PluginError, match=r"pip install 'assay-bench\[inspect\]'"):
        write(find("inspect"), run, tmp_path / "logs")
    assert not (tmp_path / "logs").exists()
    with pytest.raises(PluginError, match="inspect"):
        problems(find("inspect"), tmp_path)


@needs_inspect
def test_a_good_log_has_no_problem_and_its_predictions_come_back(exported: Path, run: RunToExport) -> None:
    assert problems(find("inspect"), exported.parent) == []
    assert exported.name.startswith("2026-11-23T01-02-03-00-00_rows_")
    assert import_predictions(exported).predictions == run.predictions


@needs_inspect
@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda log: setattr(log, "status", "error"), "status"),
        (lambda log: setattr(log.samples[0], "scores", None), "a-1"),
        (lambda log: setattr(log.samples[0], "error", log.samples[4].error), "a-1"),
        (lambda log: setattr(log.samples[1], "epoch", 2) or setattr(log.samples[1], "id", "a-1"), "a-1"),
        (lambda log: setattr(log.samples[1], "id", "b-1"), "b-1"),
        (lambda log: setattr(log.samples[0].scores["assay"], "value", "I"), "results.scores.assay.accuracy"),
        (lambda log: log.results.scores[0].metrics.pop("stderr"), "results.scores.assay.stderr"),
    ],
)
def test_a_wrong_value_is_a_problem_that_names_it(exported: Path, change: Callable[[Any], None], field: str) -> None:
    from inspect_ai.log import read_eval_log, write_eval_log

    log = read_eval_log(str(exported))
    change(log)
    write_eval_log(log, str(exported))
    assert problems(find("inspect"), exported.parent)[0].field == field


@needs_inspect
def test_a_damaged_or_missing_log_is_a_problem(exported: Path) -> None:
    exported.write_bytes(exported.read_bytes()[:500])
    assert "inspect_ai cannot read it" in str(problems(find("inspect"), exported.parent)[0])
    exported.unlink()
    assert "holds no log" in str(problems(find("inspect"), exported.parent)[0])


@needs_inspect
def test_inspect_sees_scores_errors_limits_and_messages(exported: Path) -> None:
    import subprocess

    done = subprocess.run([sys.executable, READER, exported.parent], capture_output=True, text=True, check=True)
    seen = json.loads(done.stdout)
    assert (seen["task"], seen["status"], seen["model"]) == ("rows", "success", "bash_loop.org/m-1")
    assert seen["scores"] == {"a-1": "C", "a-2": "I", "a-3": "I", "a-4": "I", "a-5": None, "a-6": None}
    assert seen["summaries"]["a-5"].startswith("infra_error: the engine")
    assert seen["metrics"] == seen["recomputed"] == {"assay": {"accuracy": 0.25, "stderr": pytest.approx(0.25)}}
    assert seen["header"]["total_samples"] == 7
    assert seen["limits"]["a-1"] == {"type": "token", "limit": 2000.0, "reason": "limit_cost"}
    assert seen["roles"]["a-1"] == ["system", "user", "assistant", "tool"]
    assert seen["usage"]["a-1"]["bash_loop.org/m-1"]["total_cost"] == 0.5
    assert seen["answers"]["a-3"] == ""


@pytest.mark.network
@pytest.mark.skipif(find_spec("inspect_ai") is not None, reason="the tests above ran here")
def test_inspect_reads_it() -> None:
    packages = ["inspect-ai>=0.3.200", "zstandard>=0.23", "pytest", "hypothesis"]
    options = ["-q", "-W", "default", "-p", "no:cacheprovider", "--rootdir", str(ROOT), str(Path(__file__))]
    said = run_with(packages, "python", "-m", "pytest", *options, "-k", "not test_inspect_reads_it", assay=True)
    assert "skipped" not in said, said
    assert " passed" in said, said
