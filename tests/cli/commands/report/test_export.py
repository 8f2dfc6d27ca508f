import json
from collections.abc import Callable
from pathlib import Path


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
