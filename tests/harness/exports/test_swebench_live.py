import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from assay.harness.domain import Apply, ApplyStatus, Instance, Rule, Status
from assay.harness.errors import UserError
from assay.harness.exports import swebench_live
from assay.harness.exports.base import RunToExport
from exported import Made, graded
from submitted import ABOUT, SYSTEM, check_spoiled, complaints, each_spoiled, exported
from toy import FIXED, KEPT, make_instance

P, F = Status.PASSED, Status.FAILED
Make = Callable[..., Instance]


@pytest.fixture
def task() -> Make:
    return lambda **changes: make_instance(**{"rule": Rule.SWE_BENCH_LIVE, **changes})


def controlled(run: RunToExport, unfit: dict[str, str]) -> RunToExport:
    """Give a run the result of its controls."""
    verdicts = [saved.verdict for saved in run.store.load_verdicts()]
    run.store.save_report(run.store.summarise(verdicts, unfit=unfit), verdicts)
    return replace(run)


@pytest.fixture
def run(task: Make, make_run: Made, tmp_path: Path) -> RunToExport:
    thoughts = tmp_path / "thoughts.json"
    thoughts.write_text("{}")
    good = graded(task(id="a-1"), {FIXED: P})
    bad = graded(task(id="a-2"), {KEPT: F})
    empty = graded(task(id="a-3"), {}, apply=Apply(status=ApplyStatus.EMPTY), exit_code=None)
    late = graded(task(id="a-4"), {}, timed_out=True)
    paths = dict.fromkeys(("a-1", "a-2", "a-4"), thoughts)
    made = make_run(good, bad, empty, late, patches={"a-3": ""}, metadata=ABOUT, trajectories=paths)
    return controlled(made, {"a-2": "gold is unresolved"})


def test_the_files_are_those_of_the_golden(run: RunToExport, tmp_path: Path) -> None:
    files = exported(swebench_live, run, tmp_path / "out")
    names = ("README.md", "a-1/report.json", "a-2/report.json", "gold_patch_evaluated_instances.txt", "preds.json")
    more = ("results.json", "trajs/a-1.json", "trajs/a-2.json", "trajs/a-4.json")
    assert sorted(files) == sorted(f"{SYSTEM}/{name}" for name in (*names, *more))
    patch = run.predictions[0].patch
    assert json.loads(files[f"{SYSTEM}/preds.json"])["a-1"] == {"model_patch": patch}
    assert json.loads(files[f"{SYSTEM}/a-1/report.json"]) == {
        "instance_id": "a-1",
        "resolved": True,
        "PASS_TO_PASS": {"success": [], "failure": []},
        "FAIL_TO_PASS": {"success": [FIXED], "failure": []},
    }
    assert json.loads(files[f"{SYSTEM}/a-2/report.json"])["PASS_TO_PASS"] == {"success": [], "failure": [KEPT]}
    assert json.loads(files[f"{SYSTEM}/results.json"]) == {
        "submitted": 4, "success": 1, "failure": 1, "empty_patch": 1, "error": 1, "incomplete": 0,
        "submitted_ids": ["a-1", "a-2", "a-3", "a-4"], "success_ids": ["a-1"], "failure_ids": ["a-2"],
        "empty_patch_ids": ["a-3"], "error_ids": ["a-4"], "incomplete_ids": [],
    }  # fmt: skip
    assert complaints(swebench_live, tmp_path / "out") == []


def test_the_denominator_is_what_passes_with_gold_here(run: RunToExport, tmp_path: Path) -> None:
    files = exported(swebench_live, run, tmp_path / "out")
    assert files[f"{SYSTEM}/gold_patch_evaluated_instances.txt"] == b"a-1\na-3\na-4\n"
    assert b"Of the 3 instances whose gold patch passes here, 1 are resolved (33.33%)." in files[f"{SYSTEM}/README.md"]


def test_a_run_without_controls_has_no_denominator(task: Make, make_run: Made, tmp_path: Path) -> None:
    run = make_run(graded(task(), {FIXED: P}), metadata=ABOUT)
    with pytest.raises(UserError, match="has no controls, so the denominator is not known; evaluate again with"):
        exported(swebench_live, run, tmp_path / "out")


def test_only_its_own_instances_are_written(make_run: Made, tmp_path: Path) -> None:
    run = controlled(make_run(graded(make_instance(), {FIXED: P, KEPT: P}), metadata=ABOUT), {})
    with pytest.raises(UserError, match="acme__calc-1 is graded by swe-bench, not by swe-bench-live"):
        exported(swebench_live, run, tmp_path / "out")


@each_spoiled("swe-bench-live")
def test_a_spoiled_submission_has_its_problem(run: RunToExport, tmp_path: Path, how: dict[str, str]) -> None:
    check_spoiled(swebench_live, run, tmp_path / "out", how, SYSTEM)
