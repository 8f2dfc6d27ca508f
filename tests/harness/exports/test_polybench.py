import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from assay.harness.domain import Apply, ApplyStatus, Instance, Rule, Status
from assay.harness.errors import UserError
from assay.harness.exports import polybench
from assay.harness.exports.base import RunToExport
from exported import Made, graded
from submitted import ABOUT, SYSTEM, check_spoiled, complaints, each_spoiled, exported, split_of
from toy import FIXED, KEPT, make_instance

P, F, S = Status.PASSED, Status.FAILED, Status.SKIPPED
HOME = f"evaluation/PB500/{SYSTEM}"
MINE = ABOUT.model_copy(update={"split": "PB500", "logo": "https://example.org/l.png"})
Make = Callable[..., Instance]


@pytest.fixture
def task() -> Make:
    return lambda **changes: make_instance(**{"rule": Rule.SWE_POLYBENCH, **changes})


@pytest.fixture
def run(task: Make, make_run: Made, tmp_path: Path) -> RunToExport:
    thoughts = tmp_path / "thoughts.log"
    thoughts.write_text("hm\n")
    good = graded(task(id="a-1"), {FIXED: P, "tests/test_other.py::test_it": P, "tests/test_slow.py::test_it": S})
    bad = graded(task(id="a-2"), {FIXED: P, KEPT: F})
    empty = graded(task(id="a-3"), {}, apply=Apply(status=ApplyStatus.EMPTY), exit_code=None)
    late = graded(task(id="a-4"), {FIXED: P, KEPT: P}, timed_out=True)
    paths = dict.fromkeys(("a-1", "a-2", "a-4"), thoughts)
    return make_run(good, bad, empty, late, patches={"a-3": ""}, metadata=MINE, trajectories=paths)


def test_the_files_are_those_of_the_golden(run: RunToExport, tmp_path: Path) -> None:
    files = exported(polybench, run, tmp_path / "out")
    logs = [f"logs/a-{n}_{kind}.json" for n in (1, 2, 3, 4) for kind in ("metrics", "result")]
    others = ("README.md", "all_preds.jsonl", "metadata.yaml", "trajs/a-1.log", "trajs/a-2.log", "trajs/a-4.log")
    assert sorted(files) == sorted(f"{HOME}/{name}" for name in (*logs, *others))
    results = [json.loads(files[f"{HOME}/logs/a-{n}_result.json"]) for n in (1, 2, 3, 4)]
    assert results[0] == {
        "instance_id": "a-1",
        "patch_applied": True,
        "generation": True,
        "with_logs": True,
        "all_f2p_passed": True,
        "no_p2p_failed": True,
        "resolved": True,
        "passed_tests": [FIXED, "tests/test_other.py::test_it"],
        "failed_tests": [],
    }
    facts = ("patch_applied", "generation", "with_logs", "all_f2p_passed", "no_p2p_failed", "resolved")
    assert [results[1][name] for name in facts] == [True, True, True, True, False, False]
    assert [results[2][name] for name in facts] == [False, False, False, False, False, False]
    assert [results[3][name] for name in facts] == [True, True, False, False, False, False]
    assert (results[1]["failed_tests"], results[3]["passed_tests"]) == ([KEPT], [])
    assert json.loads(files[f"{HOME}/logs/a-1_metrics.json"])["file_retrieval_metrics"] == {
        "recall": 1.0,
        "precision": 1.0,
        "f1": 1.0,
    }
    assert yaml.safe_load(files[f"{HOME}/metadata.yaml"]) == {
        "name": "Toy agent + M-1",
        "oss": True,
        "site": "https://example.org",
        "pass_rate": "25.00% (1/4)",
        "authors": "A. Person",
        "logo": ["https://example.org/l.png"],
    }
    with split_of(polybench.SIZES, "PB500", 4):
        assert complaints(polybench, tmp_path / "out") == []


def test_results_agree_with_the_benchmarks_own_rule(run: RunToExport, tmp_path: Path) -> None:
    """Its scoring: every fail-to-pass test is among the passed, and no pass-to-pass test among the failed."""
    files = exported(polybench, run, tmp_path / "out")
    for name in ("a-1", "a-2", "a-3", "a-4"):
        found = json.loads(files[f"{HOME}/logs/{name}_result.json"])
        resolved = {FIXED} <= {*found["passed_tests"]} and not {KEPT} & {*found["failed_tests"]}
        assert found["resolved"] is resolved


def test_shortened_labels_are_listed_as_the_benchmark_knows_them(task: Make, make_run: Made, tmp_path: Path) -> None:
    cut = task(id="a-1", fail_to_pass=("t.py::test[a",), pass_to_pass=("t.py::test[b",))
    run = make_run(graded(cut, {"t.py::test[a b]": P, "t.py::test[b c]": F}), metadata=MINE)
    found = json.loads(exported(polybench, run, tmp_path / "out")[f"{HOME}/logs/a-1_result.json"])
    assert found["passed_tests"] == ["t.py::test[a", "t.py::test[a b]"]
    assert found["failed_tests"] == ["t.py::test[b", "t.py::test[b c]"]


def test_only_its_own_splits_and_rules_are_written(make_run: Made, tmp_path: Path) -> None:
    plain = make_run(graded(make_instance(), {}), metadata=MINE)
    with pytest.raises(UserError, match="acme__calc-1 is graded by swe-bench, not by swe-polybench"):
        exported(polybench, plain, tmp_path / "out")
    with pytest.raises(UserError, match="'verified' is no split of SWE-PolyBench; write one of PB, PB500, PBVerified"):
        exported(polybench, make_run(graded(make_instance(), {}), metadata=ABOUT), tmp_path / "out")


@each_spoiled("swe-polybench")
def test_a_spoiled_submission_has_its_problem(run: RunToExport, tmp_path: Path, how: dict[str, str]) -> None:
    with split_of(polybench.SIZES, "PB500", 4):
        check_spoiled(polybench, run, tmp_path / "out", how, HOME)
