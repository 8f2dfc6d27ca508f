"""A submission to SWE-bench/experiments: by goldens, by its own check, and by SWE-bench itself."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from assay.harness.domain import Apply, ApplyStatus, FailedPart, Rule, Stages, Status
from assay.harness.errors import UserError
from assay.harness.exports import swebench
from assay.harness.exports.base import RunToExport
from assay.harness.exports.swebench_check import SIZES
from assay.harness.exports.write import run_problems
from exported import Made, graded
from other_tools import run_with
from submitted import ABOUT, BAD_LOG, LOG, SYSTEM, check_spoiled, complaints, each_spoiled, exported, split_of
from toy import FIXED, KEPT, make_instance

P, F = Status.PASSED, Status.FAILED
READER = Path(__file__).with_name("read_with_swebench.py")
HOME = f"evaluation/verified/{SYSTEM}"


@pytest.fixture
def run(make_run: Made, tmp_path: Path) -> RunToExport:
    good = graded(make_instance(id="a-1"), {FIXED: P, KEPT: P})
    bad = graded(make_instance(id="a-2"), {FIXED: F, KEPT: P})
    thoughts = tmp_path / "thoughts.md"
    thoughts.write_text("# I think\n")
    outputs = {"a-1": LOG, "a-2": BAD_LOG}
    paths = {"a-1": thoughts, "a-2": thoughts}
    return make_run(good, bad, missing=("a-3",), outputs=outputs, metadata=ABOUT, trajectories=paths)


@pytest.fixture
def folder(run: RunToExport, tmp_path: Path) -> Path:
    exported(swebench, run, tmp_path / "out")
    return tmp_path / "out"


def check(folder: Path) -> list[str]:
    with split_of(SIZES, "verified", 3):
        return complaints(swebench, folder)


def test_the_files_are_those_of_the_golden(run: RunToExport, tmp_path: Path) -> None:
    files = exported(swebench, run, tmp_path / "out")
    logs = [f"{HOME}/logs/a-{n}/{name}" for n in (1, 2) for name in
            ("patch.diff", "report.json", "run_instance.log", "test_output.txt")]  # fmt: skip
    others = ("README.md", "all_preds.jsonl", "metadata.yaml", "results/results.json", "trajs/a-1.md", "trajs/a-2.md")
    assert sorted(files) == sorted([*logs, *(f"{HOME}/{name}" for name in others), "acme__model-1.nightly.json"])
    patch = run.predictions[0].patch
    rows = [json.loads(line) for line in files[f"{HOME}/all_preds.jsonl"].splitlines()]
    assert rows[0] == {"instance_id": "a-1", "model_name_or_path": "acme/model-1", "model_patch": patch}
    assert files[f"{HOME}/logs/a-1/patch.diff"].decode() == patch
    assert files[f"{HOME}/logs/a-1/test_output.txt"].decode() == (
        f">>>>> Start Test Output\n{LOG}\n>>>>> End Test Output\n>>>>> Test Exit Code: 0\n"
    )
    assert files[f"{HOME}/logs/a-2/run_instance.log"].decode().startswith(">>>>> Applied Patch\noutcome: unresolved\n")
    assert json.loads(files[f"{HOME}/logs/a-2/report.json"]) == {
        "a-2": {
            "patch_is_None": False,
            "patch_exists": True,
            "patch_successfully_applied": True,
            "resolved": False,
            "infra_failure": False,
            "tests_status": {
                "FAIL_TO_PASS": {"success": [], "failure": [FIXED]},
                "PASS_TO_PASS": {"success": [KEPT], "failure": []},
                "FAIL_TO_FAIL": {"success": [], "failure": []},
                "PASS_TO_FAIL": {"success": [], "failure": []},
            },
        }
    }
    assert json.loads(files[f"{HOME}/results/results.json"]) == {
        "no_generation": ["a-3"],
        "no_logs": [],
        "resolved": ["a-1"],
    }
    whole = json.loads(files["acme__model-1.nightly.json"])
    assert (whole["schema_version"], whole["resolved_ids"], whole["incomplete_ids"]) == (2, ["a-1"], ["a-3"])
    assert "outcomes" not in whole


def test_metadata_and_readme_say_what_the_person_said(run: RunToExport, tmp_path: Path) -> None:
    files = exported(swebench, run, tmp_path / "out")
    assert yaml.safe_load(files[f"{HOME}/metadata.yaml"]) == {
        "assets": {
            "logs": f"s3://swe-bench-experiments/verified/{SYSTEM}/logs",
            "trajs": f"s3://swe-bench-experiments/verified/{SYSTEM}/trajs",
        },
        "info": {
            "authors": "A. Person",
            "logo": "",
            "name": "Toy agent + M-1",
            "report": "https://example.org/report.pdf",
            "site": "https://example.org",
        },
        "tags": {
            "checked": False,
            "model": ["M-1"],
            "org": ["Example"],
            "os_model": False,
            "os_system": True,
            "system": {"attempts": "1"},
        },
    }
    readme = files[f"{HOME}/README.md"].decode()
    assert readme.startswith("# Toy agent + M-1\n\n- Authors: A. Person\n- Report: https://example.org/report.pdf\n")
    assert "Resolved 1 of 3 instances." in readme
    assert "Without a prediction, and counted as unresolved: a-3." in readme
    assert "| acme/calc | 1/2 | 50.0% |" in readme
    assert "| 2023 | 1/2 | 50.0% |" in readme


def test_what_could_not_be_tested_is_no_generation_no_log_or_infrastructure(make_run: Made, tmp_path: Path) -> None:
    none: dict[str, Any] = {"exit_code": None}
    kinds: dict[str, dict[str, Any]] = {
        "a-1": {"apply": Apply(status=ApplyStatus.EMPTY)},
        "a-2": {"apply": Apply(status=ApplyStatus.CONFLICT, detail="calc.py: does not apply")},
        "a-3": {"timed_out": True},
        "a-4": {"failed_part": FailedPart.ENVIRONMENT, "error": "no image"},
    }
    all_of = [graded(make_instance(id=name), {}, **none | changes) for name, changes in kinds.items()]
    run = make_run(*all_of, outputs={"a-3": "slow"}, patches={"a-1": ""}, metadata=ABOUT)
    files = exported(swebench, run, tmp_path / "out")
    assert json.loads(files[f"{HOME}/results/results.json"]) == {
        "no_generation": ["a-1"],
        "no_logs": ["a-2", "a-3"],
        "resolved": [],
    }
    log = files[f"{HOME}/logs/a-2/run_instance.log"].decode()
    assert log.startswith(">>>>> Patch Apply Failed\ncalc.py: does not apply\noutcome: patch_conflict\n")
    assert files[f"{HOME}/logs/a-3/test_output.txt"] == b">>>>> Start Test Output\nslow\n"
    assert not [name for name in files if name.startswith((f"{HOME}/logs/a-1/", f"{HOME}/logs/a-3/report"))]
    failed = json.loads(files[f"{HOME}/logs/a-4/report.json"])["a-4"]
    assert (failed["infra_failure"], failed["infra_failure_reason"], failed["resolved"]) == (True, "no image", False)
    said = check(tmp_path / "out")
    assert f"{HOME}/logs: a-4: the environment or the engine failed, not the patch; evaluate it again" in said
    assert [each.field for each in run_problems(swebench, run)] == ["a-4"]


def test_output_with_markers_keeps_them() -> None:
    assert swebench.fence(b"a\n>>>>> Start Test Output\nb", 0, timed_out=False) == b"a\n>>>>> Start Test Output\nb"


@pytest.mark.parametrize("model", ["..", ".", "a\0b"])
def test_no_model_leads_out_of_the_folder(make_run: Made, tmp_path: Path, model: str) -> None:
    run = make_run(graded(make_instance(), {FIXED: P, KEPT: P}), model=model, metadata=ABOUT)
    with pytest.raises(UserError, match="file's name"):
        exported(swebench, run, tmp_path / "out")


def test_only_its_own_splits_and_rules_are_written(make_run: Made, tmp_path: Path) -> None:
    other = make_instance(rule=Rule.MULTI_SWE_BENCH, stages=Stages())
    with pytest.raises(UserError, match="acme__calc-1 is graded by multi-swe-bench, not by swe-bench"):
        exported(swebench, make_run(graded(other, {}), metadata=ABOUT), tmp_path / "out")
    about = ABOUT.model_copy(update={"split": "gold"})
    with pytest.raises(UserError, match="'gold' is no split of SWE-bench; write one of lite, verified"):
        exported(swebench, make_run(graded(make_instance(), {}), metadata=about), tmp_path / "out")


def test_a_complete_submission_has_no_problem(folder: Path) -> None:
    assert check(folder) == []
    with split_of(SIZES, "verified", 3):
        assert complaints(swebench, folder / HOME) == []


@each_spoiled("swebench")
def test_a_spoiled_submission_has_its_problem(run: RunToExport, tmp_path: Path, how: dict[str, str]) -> None:
    with split_of(SIZES, "verified", 3):
        check_spoiled(swebench, run, tmp_path / "out", how, HOME)


def test_a_wrong_name_of_folder_or_split_is_a_problem(folder: Path) -> None:
    (folder / HOME).rename(folder / "evaluation/verified/mine")
    assert any("mine: is no <YYYYMMDD>_<system>; rename the folder" in each for each in check(folder))
    (folder / "evaluation/verified").rename(folder / "evaluation/all")
    assert any("all: is no split of this leaderboard" in each for each in check(folder))


def test_a_folder_without_a_submission_is_one_problem(tmp_path: Path) -> None:
    (found,) = complaints(swebench, tmp_path)
    assert found.startswith(".: holds neither all_preds.jsonl nor evaluation/*/*/all_preds.jsonl")


@pytest.mark.network
def test_swebench_itself_grades_the_logs_alike(folder: Path) -> None:
    printed = run_with(["swebench==5.0.2"], "python", str(READER), str(folder / HOME))
    assert json.loads(printed) == {"reports_differ": [], "graded": ["a-1", "a-2"], "resolved_ids": ["a-1"]}
