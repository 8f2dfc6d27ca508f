"""The action for pull requests: its steps, run as a runner of GitHub runs them, with the fake engine."""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from toy import make_instance

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
STEPS = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"]


def run_step(name: str, folder: Path, **variables: str) -> tuple[int, dict[str, str], str]:
    """Run a step of the action as the runner does; return its status, its outputs and the summary."""
    (step,) = (each for each in STEPS if each.get("name") == name)
    output, summary = folder / "output", folder / "summary.md"
    output.write_text("")
    env = {
        **os.environ,
        "RUNNER_TEMP": str(folder),
        "GITHUB_OUTPUT": str(output),
        "GITHUB_STEP_SUMMARY": str(summary),
        "GITHUB_ACTION_PATH": str(ROOT),
        **variables,
    }
    script = folder / "step.sh"
    script.write_text(step["run"], encoding="utf-8")
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
        env=env,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    found = dict(line.split("=", 1) for line in output.read_text().splitlines())
    return done.returncode, found, summary.read_text() if summary.exists() else ""


@pytest.fixture
def runner(tmp_path: Path) -> Path:
    """A runner's folder, with this Assay installed where the action installs it."""
    programs = tmp_path / "assay/venv/bin"
    programs.mkdir(parents=True)
    (programs / "assay").write_text(f'#!/bin/sh\nexec {sys.executable} -m assay "$@"\n')
    (programs / "assay").chmod(0o755)
    return tmp_path


@pytest.fixture
def evaluate(runner: Path) -> Callable[..., tuple[int, dict[str, str], str]]:
    """Evaluate a right and a wrong patch by the action's step."""
    instances = [make_instance(id=f"acme__calc-{number}") for number in (1, 2)]
    rows = [
        {
            "instance_id": each.id,
            "repo": each.repo,
            "base_commit": each.base_commit,
            "patch": each.gold_patch,
            "test_patch": each.test_patch,
            "problem_statement": each.problem_statement,
            "created_at": each.created_at.isoformat(),
            "version": "1",
            "FAIL_TO_PASS": list(each.fail_to_pass),
            "PASS_TO_PASS": list(each.pass_to_pass),
        }
        for each in instances
    ]
    patches = (instances[0].gold_patch, instances[0].gold_patch.replace("a + b", "b"))
    predictions = [
        {"instance_id": each.id, "model_name_or_path": "m", "model_patch": patch}
        for each, patch in zip(instances, patches, strict=True)
    ]
    for name, lines in (("rows.jsonl", rows), ("preds.jsonl", predictions)):
        (runner / name).write_text("".join(json.dumps(line) + "\n" for line in lines))

    def step(**variables: str) -> tuple[int, dict[str, str], str]:
        usual = {
            "ASSAY_ENGINE": "fake",
            "DATASET": "rows.jsonl",
            "PREDICTIONS": "preds.jsonl",
            "RUN": "mine",
            "JOBS": "2",
            "FAIL_UNDER": "",
            "MORE": "",
        }
        return run_step("Evaluate", runner, **{**usual, **variables})

    return step


def test_the_action_evaluates_and_gives_figures_and_files(evaluate: Callable, runner: Path) -> None:
    status, outputs, _ = evaluate()
    assert status == 0
    assert (outputs["resolved"], outputs["submitted"], outputs["status"]) == ("1", "2", "0")
    assert json.loads(Path(outputs["report"]).read_text())["resolved_ids"] == ["acme__calc-1"]
    assert Path(outputs["run"], "run.json").is_file()


def test_the_action_shows_the_verdicts_and_writes_a_junit_file(evaluate: Callable, runner: Path) -> None:
    _, outputs, _ = evaluate()
    status, shown, summary = run_step("Show the verdicts", runner, RUN=outputs["run"])
    assert status == 0
    assert "acme__calc-2" in summary.replace("\\", "")
    assert "unresolved" in summary
    suite = ET.parse(shown["junit"]).getroot()
    assert {each.get("name") for each in suite.iter("testcase")} >= {"acme__calc-1", "acme__calc-2"}


def test_the_action_fails_at_its_end_and_after_the_summary(evaluate: Callable, runner: Path) -> None:
    status, outputs, _ = evaluate(FAIL_UNDER="60")
    assert (status, outputs["status"]) == (0, "5")
    assert run_step("End as the evaluation ended", runner, STATUS=outputs["status"])[0] == 5


def test_more_arguments_are_one_a_line_and_never_run(evaluate: Callable, runner: Path) -> None:
    status, outputs, _ = evaluate(MORE="-i\nacme__calc-2\n\n", RUN="a $(touch ran) `touch ran`")
    assert status == 0
    assert outputs["submitted"] == "1"
    assert not (runner / "ran").exists()


def test_wrong_input_ends_the_step_with_assays_own_status(evaluate: Callable) -> None:
    status, outputs, _ = evaluate(PREDICTIONS="none.jsonl")
    assert (status, outputs) == (2, {})


@pytest.mark.network
def test_the_action_installs_assay_from_its_own_folder(tmp_path: Path) -> None:
    (tmp_path / "assay").mkdir()
    assert run_step("Install Assay", tmp_path, EXTRAS="")[0] == 0
    assert (tmp_path / "assay/venv/bin/assay").is_file()
