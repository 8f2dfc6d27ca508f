import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from assay.harness.domain import FailedPart, Instance, Origin, Rule, Stages, Status
from assay.harness.errors import UserError
from assay.harness.exports import multi_swe_bench
from assay.harness.exports.base import RunToExport
from exported import Made, graded
from submitted import ABOUT, SYSTEM, check_spoiled, complaints, each_spoiled, exported, split_of
from toy import make_instance

P, F, S = Status.PASSED, Status.FAILED, Status.SKIPPED
GOOD = {"kept": P, "fixed": P, "new": P, "old": F, "other": S}
HOME = f"evaluation/go/verified/{SYSTEM}"
Make = Callable[..., Instance]


@pytest.fixture
def pull() -> Make:
    def make(**changes: Any) -> Instance:
        stages = Stages(run={"kept": P, "old": F}, test={"kept": P, "fixed": F, "old": F, "other": P})
        fields = {"id": "acme__calc-7", "rule": Rule.MULTI_SWE_BENCH, "stages": stages, "language": "go"}
        return make_instance(**{**fields, "fail_to_pass": ("fixed", "new"), "pass_to_pass": ("kept",), **changes})

    return make


@pytest.fixture
def run(pull: Make, make_run: Made, tmp_path: Path) -> RunToExport:
    good, killed = graded(pull(), GOOD), graded(pull(id="acme__calc-8"), {**GOOD, "other": F})
    thoughts = tmp_path / "thoughts.txt"
    thoughts.write_text("hm\n")
    return make_run(
        good,
        killed,
        missing=("acme__calc-9",),
        metadata=ABOUT,
        outputs={"acme__calc-7": "ok\n"},
        trajectories={"acme__calc-7": thoughts, "acme__calc-8": thoughts},
    )


def test_the_files_are_those_of_the_golden(run: RunToExport, tmp_path: Path) -> None:
    files = exported(multi_swe_bench, run, tmp_path / "out")
    logs = f"{HOME}/logs/acme/calc/evals"
    assert sorted(files) == sorted(
        [
            *(f"{HOME}/{name}" for name in ("README.md", "all_preds.jsonl", "metadata.yaml", "results/results.json")),
            *(f"{HOME}/trajs/acme__calc-{n}.txt" for n in (7, 8)),
            *(f"{logs}/pr-{n}/{name}" for n in (7, 8) for name in ("fix.patch", "report.json")),
            f"{logs}/pr-7/fix-patch-run.log",
            "final_report.json",
        ]
    )
    one = json.loads(files[f"{logs}/pr-7/report.json"])
    assert (one["org"], one["repo"], one["number"], one["valid"], one["error_msg"]) == ("acme", "calc", 7, True, "")
    assert one["f2p_tests"] == {"fixed": {"run": "NONE", "test": "FAIL", "fix": "PASS"}}
    assert one["n2p_tests"] == {"new": {"run": "NONE", "test": "NONE", "fix": "PASS"}}
    assert one["p2p_tests"] == {"kept": {"run": "PASS", "test": "PASS", "fix": "PASS"}}
    assert set(one["fixed_tests"]) == {"fixed", "new"}
    assert one["fix_patch_result"] == {
        "passed_count": 3, "failed_count": 1, "skipped_count": 1,
        "passed_tests": ["kept", "fixed", "new"], "failed_tests": ["old"], "skipped_tests": ["other"],
    }  # fmt: skip
    assert one["run_result"]["failed_tests"] == ["old"]
    other = json.loads(files[f"{logs}/pr-8/report.json"])
    assert (other["valid"], "'other' passed before" in other["error_msg"]) == (False, True)
    assert [other[name] for name in ("fixed_tests", "p2p_tests", "f2p_tests", "s2p_tests", "n2p_tests")] == [{}] * 5
    results = json.loads(files[f"{HOME}/results/results.json"])
    assert (results["resolved"], results["unresolved_ids"]) == (["acme__calc-7"], ["acme__calc-8"])
    assert (results["total_instances"], results["incomplete_ids"]) == (3, ["acme__calc-9"])
    assert yaml.safe_load(files[f"{HOME}/metadata.yaml"]) == {
        "name": "Toy agent + M-1",
        "oss": True,
        "site": "https://example.org",
        "verified": False,
    }
    with split_of(multi_swe_bench.SIZES, "go", 3):
        assert complaints(multi_swe_bench, tmp_path / "out") == []


def test_the_final_report_has_the_benchmarks_fields_only(run: RunToExport, tmp_path: Path) -> None:
    whole = json.loads(exported(multi_swe_bench, run, tmp_path / "out")["final_report.json"])
    assert (whole["resolved_ids"], whole["unresolved_ids"]) == (["acme/calc:pr-7"], ["acme/calc:pr-8"])
    assert (whole["incomplete_ids"], whole["total_instances"]) == (["acme/calc:pr-9"], 3)
    groups = ("submitted", "completed", "incomplete", "resolved", "unresolved", "empty_patch", "error")
    names = [f"{group}_{kind}" for group in groups for kind in ("ids", "instances")]
    assert sorted(whole) == sorted([*names, "total_instances"])


def test_each_language_is_a_submission(pull: Make, make_run: Made, tmp_path: Path) -> None:
    one = graded(pull(language="typescript"), GOOD)
    two = graded(pull(id="acme__rusty-1", repo="acme/rusty", language="rust"), GOOD)
    run = make_run(one, two, missing=("acme__rusty-2",), metadata=ABOUT)
    files = exported(multi_swe_bench, run, tmp_path / "out")
    found = {
        language: json.loads(files[f"evaluation/{language}/verified/{SYSTEM}/results/results.json"])
        for language in ("ts", "rust")
    }
    assert (found["ts"]["submitted_ids"], found["ts"]["incomplete_ids"]) == (["acme__calc-7"], [])
    assert (found["rust"]["submitted_ids"], found["rust"]["incomplete_ids"]) == (["acme__rusty-1"], ["acme__rusty-2"])
    rows = files[f"evaluation/rust/verified/{SYSTEM}/all_preds.jsonl"].splitlines()
    assert [json.loads(row)["instance_id"] for row in rows] == ["acme__rusty-1"]


def test_what_was_not_tested_has_no_third_stage(pull: Make, make_run: Made, tmp_path: Path) -> None:
    broken = graded(pull(), {"fixed": P}, failed_part=FailedPart.ENVIRONMENT, error="no image")
    files = exported(multi_swe_bench, make_run(broken, metadata=ABOUT), tmp_path / "out")
    one = json.loads(files[f"{HOME}/logs/acme/calc/evals/pr-7/report.json"])
    assert (one["valid"], one["error_msg"], one["fix_patch_result"]["passed_tests"]) == (False, "no image", [])
    assert json.loads(files["final_report.json"])["error_ids"] == ["acme/calc:pr-7"]
    assert json.loads(files[f"{HOME}/results/results.json"])["empty_error_patch_ids"] == ["acme__calc-7"]


def test_only_its_own_instances_are_written(pull: Make, make_run: Made, tmp_path: Path) -> None:
    plain = graded(make_instance(), {})
    with pytest.raises(UserError, match="acme__calc-1 is graded by swe-bench, not by multi-swe-bench"):
        exported(multi_swe_bench, make_run(plain, metadata=ABOUT), tmp_path / "out")
    astray = graded(pull(repo="../.."), GOOD)
    with pytest.raises(UserError, match="not the name of a repository"):
        exported(multi_swe_bench, make_run(astray, metadata=ABOUT), tmp_path / "out")


@pytest.mark.parametrize(
    ("instance_id", "columns", "number"),
    [
        ("acme__calc-7", (), 7),
        ("acme__calc-7", (("number", "9"),), 9),
        ("calc", (("number", '"12"'),), 12),
        ("calc", (), 0),
    ],
)
def test_the_number_is_the_rows_or_the_ids(
    pull: Make, instance_id: str, columns: tuple[tuple[str, str], ...], number: int
) -> None:
    origin = Origin(dialect="multi-swe-bench", columns=columns) if columns else None
    assert multi_swe_bench.get_number(pull(id=instance_id, origin=origin)) == number


@each_spoiled("multi-swe-bench")
def test_a_spoiled_submission_has_its_problem(run: RunToExport, tmp_path: Path, how: dict[str, str]) -> None:
    with split_of(multi_swe_bench.SIZES, "go", 3):
        check_spoiled(multi_swe_bench, run, tmp_path / "out", how, HOME)
