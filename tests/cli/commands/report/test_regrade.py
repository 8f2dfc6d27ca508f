import json
from collections.abc import Callable
from pathlib import Path


def test_regrading_changes_nothing_where_nothing_changed(assay: Callable, run: Path) -> None:
    before = json.loads((run / "report.json").read_text())
    done = assay("report", "regrade", "rows.gold", "--json")
    assert (done.code, done.json) == (0, before)


def test_regrading_follows_the_evidence(assay: Callable, run: Path) -> None:
    path = run / "instances/acme__calc-2/evidence.json"
    path.write_text(path.read_text().replace('"passed"', '"failed"').replace('"exit_code": 0', '"exit_code": 1'))
    done = assay("report", "regrade", "rows.gold")
    assert "acme__calc-2: resolved to unresolved" in done.out
    assert "1 verdict changed; 2 of 3 resolved" in done.out
    assert assay("report", "show", "rows.gold", "--json").json["unresolved_ids"] == ["acme__calc-2"]


def test_missing_evidence_is_said(assay: Callable, run: Path) -> None:
    (run / "instances/acme__calc-2/evidence.json").unlink()
    assay("report", "regrade", "rows.gold").refuses("acme__calc-2")


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
    assay("report", "regrade", "logs").refuses("--dataset")
