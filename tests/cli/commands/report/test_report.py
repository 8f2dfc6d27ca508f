import json
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def run(assay: Callable, rows: Path) -> Path:
    assay("evaluate", "rows.jsonl", "--gold")
    return Path("runs/rows.gold")


def test_a_run_is_shown_by_name_and_by_folder(assay: Callable, run: Path) -> None:
    for name in ("rows.gold", "runs/rows.gold"):
        done = assay("report", "show", name)
        assert done.code == 0
        assert "3 of 3 resolved" in done.out
    assert assay("report", "show", "rows.gold", "--json").json == json.loads((run / "report.json").read_text())


def test_an_unknown_run_names_those_that_there_are(assay: Callable, run: Path) -> None:
    done = assay("report", "show", "rows.golden")
    assert done.code == 2
    assert "rows.gold" in done.err


def test_regrading_changes_nothing_where_nothing_changed(assay: Callable, run: Path) -> None:
    before = json.loads((run / "report.json").read_text())
    done = assay("report", "regrade", "rows.gold", "--json")
    assert (done.code, done.json) == (0, before)


def test_regrading_follows_the_evidence(assay: Callable, run: Path) -> None:
    path = run / "instances/acme__calc-2/evidence.json"
    path.write_text(path.read_text().replace('"passed"', '"failed"').replace('"exit_code": 0', '"exit_code": 1'))
    done = assay("report", "regrade", "rows.gold")
    assert "acme__calc-2: resolved to unresolved" in done.out
    assert "1 verdicts changed; 2 of 3 resolved" in done.out
    assert assay("report", "show", "rows.gold", "--json").json["unresolved_ids"] == ["acme__calc-2"]


def test_missing_evidence_is_said(assay: Callable, run: Path) -> None:
    (run / "instances/acme__calc-2/evidence.json").unlink()
    done = assay("report", "regrade", "rows.gold")
    assert done.code == 2
    assert "acme__calc-2" in done.err


def test_logs_made_elsewhere_are_graded_and_compared(assay: Callable, rows: Path) -> None:
    logs = Path("logs")
    logs.mkdir()
    passed = "PASSED tests/test_calc.py::test_add\nPASSED tests/test_calc.py::test_same\n"
    (logs / "acme__calc-1.test_output.txt").write_text(passed)
    (logs / "acme__calc-2.log").write_text(passed.replace("PASSED", "FAILED", 1))
    (logs / "someone__else-9.log").write_text(passed)
    published = [
        {"instance_id": "acme__calc-1", "model_patch": "", "published_resolved": True},
        {"instance_id": "acme__calc-2", "model_patch": "", "published_resolved": True},
    ]
    Path("preds.jsonl").write_text("".join(json.dumps(row) + "\n" for row in published))
    done = assay("report", "regrade", "logs", "--dataset", "rows.jsonl", "-p", "preds.jsonl")
    assert done.code == 0
    assert "1 of 2 agree with the published verdict (50.00%)" in done.out
    assert "acme__calc-2: ours unresolved, published resolved" in done.out
    assert "someone__else-9.log" in done.err
    report = assay("report", "regrade", "logs", "--dataset", "rows.jsonl", "--json").json
    assert (report["resolved_ids"], report["total_instances"]) == (["acme__calc-1"], 3)


def test_a_folder_of_logs_needs_its_instances(assay: Callable, rows: Path) -> None:
    Path("logs").mkdir()
    done = assay("report", "regrade", "logs")
    assert done.code == 2
    assert "--dataset" in done.err


def test_a_run_is_exported_for_other_tools(assay: Callable, run: Path) -> None:
    done = assay("report", "export", "rows.gold", "--format", "swebench")
    assert (done.code, done.out) == (0, "4 files in rows.gold.swebench; resolved by the rule of swe-bench\n")
    one = Path("rows.gold.swebench/logs/run_evaluation/rows.gold/gold/acme__calc-1/report.json")
    assert json.loads(one.read_text())["acme__calc-1"]["resolved"] is True
    whole = json.loads(Path("rows.gold.swebench/gold.rows.gold.json").read_text())
    assert (whole["resolved_instances"], whole["rules"]) == (3, ["swe-bench"])
    listed = assay("report", "export", "rows.gold", "--format", "swebench", "-o", "out", "--json").json
    assert (listed["rules"], len(listed["files"])) == (["swe-bench"], 4)
    assert all(Path(name).is_file() for name in listed["files"])


def test_an_export_that_does_not_fit_the_instances_is_one_line(assay: Callable, run: Path) -> None:
    done = assay("report", "export", "rows.gold", "--format", "multi-swe-bench")
    assert (done.code, len(done.err.strip().splitlines())) == (2, 1)
    assert "graded by swe-bench, not by multi-swe-bench" in done.err
    assert not Path("rows.gold.multi-swe-bench").exists()


def test_an_export_needs_the_evidence(assay: Callable, run: Path) -> None:
    (run / "instances/acme__calc-2/evidence.json").unlink()
    done = assay("report", "export", "rows.gold", "--format", "swebench")
    assert (done.code, "acme__calc-2" in done.err) == (2, True)


def test_an_external_agent_s_trajectory_is_converted_to_atif(assay: Callable, in_folder: Path) -> None:
    said = [{"role": "user", "content": "add subtracts"}, {"role": "assistant", "content": "```bash\nls\n```"}]
    Path("mini.traj.json").write_text(json.dumps(said))
    done = assay("report", "trajectory", "mini.traj.json", "--from", "mini")
    assert done.code == 0
    assert done.json["schema_version"] == "ATIF-v1.8"
    assert done.json["steps"][1]["tool_calls"][0]["arguments"] == {"command": "ls"}
    told = assay("report", "trajectory", "mini.traj.json", "--from", "mini", "-o", "ours.json")
    assert "2 steps with 1 actions of mini-swe-agent unknown in ours.json" in told.out
    assert json.loads(Path("ours.json").read_text()) == done.json
    wrong = assay("report", "trajectory", "mini.traj.json", "--from", "sweagent")
    assert (wrong.code, wrong.out) == (2, "")
    assert "mini.traj.json: this is not a trajectory in the format sweagent" in wrong.err
