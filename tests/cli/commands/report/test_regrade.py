import json
from collections.abc import Callable
from pathlib import Path

import pytest

PASSED = "PASSED tests/test_calc.py::test_add\nPASSED tests/test_calc.py::test_same\n"
FAILED = PASSED.replace("PASSED", "FAILED", 1)
ALONE = "of logs alone: no tree was checked, no tripwires ran"
REGRADE = ("report", "regrade", "logs", "-d", "rows.jsonl")


@pytest.fixture
def tree(rows: Path) -> Path:
    """Two logs as SWE-bench leaves them, with what lies beside."""
    model = Path("logs/run_evaluation/r1/some__model")
    for name, text in (("acme__calc-1", PASSED), ("acme__calc-2", FAILED)):
        folder = model / name
        folder.mkdir(parents=True)
        (folder / "test_output.txt").write_text(text)
        (folder / "patch.diff").write_text(f"the patch of {name}\n")
        (folder / "report.json").write_text(json.dumps({name: {"resolved": True}}))
    return model


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
    (logs / "acme__calc-1.test_output.txt").write_text(PASSED)
    (logs / "acme__calc-2.log").write_text(FAILED)
    (logs / "someone__else-9.log").write_text(PASSED)
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


def test_logs_leave_a_run_that_is_read_like_any_other(assay: Callable, run: Path, tree: Path) -> None:
    done = assay(*REGRADE, "-o", "runs/published")
    assert done.code == 0, done.err
    assert "1 of 2 agree with the published verdict" in done.out
    assert f"1 of 2 resolved, 1 unresolved; 2 verdicts {ALONE} · runs/published" in done.out
    shown = assay("report", "show", "published")
    assert f"2 verdicts {ALONE}, 1 without a verdict" in shown.out
    assert shown.out.count("log_alone, no_tripwires") == 2
    report = assay("report", "show", "published", "--json").json
    assert (report["resolved_ids"], report["incomplete_ids"]) == (["acme__calc-1"], ["acme__calc-3"])
    assert assay("report", "regrade", "published").out.startswith("0 verdicts changed; 1 of 2 resolved")
    compared = assay("report", "compare", "rows.gold", "published")
    assert (compared.code, compared.err) == (0, f"published: 2 verdicts {ALONE}\n")
    assert assay("report", "html", "published", "rows.gold", "-o", "page").code == 0
    assert "logs that were made elsewhere" in Path("page/published/index.html").read_text()
    assert "patch of acme__calc-2" in Path("page/published/instances/acme__calc-2.html").read_text()
    assert Path("runs/published/instances/acme__calc-2/test_output.txt").read_text() == FAILED
    assay("report", "export", "published", "--format", "swebench").refuses("logs that were made elsewhere")


def test_an_evaluation_takes_no_verdict_from_a_run_of_logs(assay: Callable, tree: Path, predictions: Callable) -> None:
    assert assay(*REGRADE, "-o", "runs/logs").code == 0
    predictions({"acme__calc-1": "the patch of acme__calc-1\n"})
    done = assay("evaluate", "rows.jsonl", "-p", "preds.jsonl", "--run-id", "mine", "--json")
    assert done.json["outcomes"] == {"acme__calc-1": "patch_rejected"}
    assay("evaluate", "rows.jsonl", "-p", "preds.jsonl", "--run-id", "logs").refuses("logs that were made elsewhere")


def test_predictions_give_the_run_its_patches_unless_one_lies_beside_a_log(
    assay: Callable, tree: Path, predictions: Callable
) -> None:
    (tree / "acme__calc-2/patch.diff").unlink()
    ids = ("ACME__calc-1", "acme__calc-2", "acme__calc-3", "someone__else-9")
    predictions({name: f"predicted for {name}\n" for name in ids})
    done = assay(*REGRADE, "-p", "preds.jsonl", "-o", "runs/logs")
    assert done.err.splitlines() == [
        "acme__calc-1: the patch beside its log is not the prediction's; it is the one that was tested"
    ]
    lines = [json.loads(line) for line in Path("runs/logs/predictions.jsonl").read_text().splitlines()]
    assert {each["instance_id"]: each["patch"] for each in lines} == {
        "acme__calc-1": "the patch of acme__calc-1\n",
        "acme__calc-2": "predicted for acme__calc-2\n",
        "acme__calc-3": "predicted for acme__calc-3\n",
    }
    assert assay("report", "show", "logs", "--json").json["incomplete_ids"] == ["acme__calc-3"]


def test_a_run_of_logs_is_written_again_by_the_same_command_alone(
    assay: Callable, tree: Path, predictions: Callable
) -> None:
    predictions({"acme__calc-1": "one\n", "acme__calc-2": "two\n"})
    again = (*REGRADE, "-p", "preds.jsonl", "-o", "runs/logs", "--json")
    assert assay(*again).json["resolved_ids"] == ["acme__calc-1"]
    (tree / "acme__calc-1/test_output.txt").unlink()
    (tree / "acme__calc-2/test_output.txt").write_text(PASSED)
    report = assay(*again).json
    assert (report["resolved_ids"], report["incomplete_ids"]) == (["acme__calc-2"], ["acme__calc-1", "acme__calc-3"])
    assert assay("report", "show", "logs", "--json").json == report
    other = ("report", "regrade", str(tree / "acme__calc-2"), "-d", "rows.jsonl", "-o", "runs/logs")
    assay(*other).refuses("holds a run that no regrade of these logs and rows made")
    assay(*REGRADE, "-o", "logs").refuses("is not empty")
    assay(*REGRADE, "-o", ".hidden").refuses("cannot have this name")
    assay("report", "regrade", "logs", "-o", "runs/x").refuses("--dataset")


@pytest.mark.parametrize("others", [(), ("someone__else-9.log",)])
def test_a_folder_without_a_log_of_the_rows_is_refused(assay: Callable, rows: Path, others: tuple[str, ...]) -> None:
    Path("logs").mkdir()
    for name in others:
        (Path("logs") / name).write_text(PASSED)
    done = assay(*REGRADE, "-o", "runs/logs")
    assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1)
    for part in ("logs: ", "<id>[.anything].txt", "<id>/test_output.txt", "fix-patch-run.log", *others):
        assert part in done.err
    assert not Path("runs/logs").exists()
