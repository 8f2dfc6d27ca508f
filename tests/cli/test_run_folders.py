"""A run's folder belongs to one command and its inputs, whatever is typed next."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.harness.domain import Instance
from toy import GOLD

pytestmark = pytest.mark.slow


def report(run: str) -> Any:
    return json.loads(Path(f"runs/{run}/report.json").read_text())


def lines(run: str) -> int:
    return len(Path(f"runs/{run}/predictions.jsonl").read_text().splitlines())


def test_gold_evaluated_and_gold_solved_have_folders_of_their_own(assay: Callable, rows: Path) -> None:
    assert assay("evaluate", "rows.jsonl", "--gold").code == 0
    assert assay("solve", "rows.jsonl", "--agent", "gold", "--evaluate").code == 0
    kinds = {path.parent.name: json.loads(path.read_text())["kind"] for path in Path("runs").glob("*/run.json")}
    assert kinds == {"rows.gold": "control", "rows.solve.gold": "solve", "rows.solve.gold.evaluated": "evaluate-solved"}


COMMANDS = {
    "evaluate": ("evaluate", "rows.jsonl", "-p", "preds.jsonl"),
    "gold": ("evaluate", "rows.jsonl", "--gold"),
    "null": ("evaluate", "rows.jsonl", "--null"),
    "solve": ("solve", "rows.jsonl", "--agent", "gold"),
    "replay": ("solve", "rows.jsonl", "--agent", "replay", "--set", "source=preds.jsonl"),
    "strict": ("evaluate", "rows.jsonl", "-p", "preds.jsonl", "--strict"),
    "timeout": ("evaluate", "rows.jsonl", "-p", "preds.jsonl", "--timeout", "7"),
    "other file": ("evaluate", "rows.jsonl", "-p", "other.jsonl"),
    "other model": ("evaluate", "rows.jsonl", "-p", "model.jsonl"),
    "other rows": ("evaluate", "more.jsonl", "-p", "preds.jsonl"),
}


@pytest.mark.parametrize("first", ["evaluate", "gold", "null", "solve", "replay", "strict"])
@pytest.mark.parametrize("second", list(COMMANDS))
def test_a_second_command_resumes_the_same_and_changes_no_other(
    assay: Callable, rows: Path, predictions: Callable, first: str, second: str
) -> None:
    predictions({"acme__calc-1": GOLD})
    predictions({"acme__calc-1": ""}, "other.jsonl")
    text = Path("preds.jsonl").read_text()
    Path("model.jsonl").write_text(text.replace("acme/model", "acme_model"))
    Path("more.jsonl").write_text(rows.read_text().replace("1.0", "1.1"))
    assert assay(*COMMANDS[first], "--run-id", "r").code == 0
    before = {path: path.read_bytes() for path in Path("runs/r").rglob("*") if path.is_file()}
    done = assay(*COMMANDS[second], "--run-id", "r")
    if first == second:
        assert done.code == 0
        return
    done.refuses("give this one another folder with --run-id NAME")
    assert {path: path.read_bytes() for path in Path("runs/r").rglob("*") if path.is_file()} == before


def test_a_file_that_has_grown_adds_to_the_run(assay: Callable, rows: Path, predictions: Callable) -> None:
    predictions({"acme__calc-1": GOLD})
    assay("evaluate", "rows.jsonl", "-p", "preds.jsonl", "--run-id", "r")
    predictions({"acme__calc-1": GOLD, "acme__calc-2": ""})
    done = assay("evaluate", "rows.jsonl", "-p", "preds.jsonl", "--run-id", "r")
    assert done.err.count("known already") == 1
    assert report("r")["submitted_ids"] == ["acme__calc-1", "acme__calc-2"]


def test_single_instances_of_a_run_leave_the_others_in_it(assay: Callable, rows: Path, predictions: Callable) -> None:
    predictions({f"acme__calc-{n}": GOLD for n in (1, 2, 3)})
    assay("evaluate", "rows.jsonl", "-p", "preds.jsonl", "--run-id", "r")
    done = assay("evaluate", "rows.jsonl", "-p", "preds.jsonl", "--run-id", "r", "-i", "acme__calc-2", "--json")
    assert (done.json["total_instances"], done.json["submitted_ids"]) == (1, ["acme__calc-2"])
    assert (report("r")["resolved_instances"], report("r")["total_instances"], lines("r")) == (3, 3, 3)
    shown = assay("evaluate", "rows.jsonl", "-p", "preds.jsonl", "--run-id", "r", "-i", "acme__calc-2").out
    assert "1 of 1 resolved · runs/r\n" in shown
    assert "with what runs/r held before: 3 of 3 resolved" in shown
    assert "3 of 3 resolved" in assay("report", "show", "r").out


def test_predictions_in_parts_make_one_run(assay: Callable, rows: Path, predictions: Callable) -> None:
    for number in (1, 2):
        predictions({f"acme__calc-{number}": GOLD}, f"{number}.jsonl")
        assert assay("evaluate", "rows.jsonl", "-p", f"{number}.jsonl", "--run-id", "r").code == 0
    assert report("r")["resolved_ids"] == ["acme__calc-1", "acme__calc-2"]


def test_a_run_of_another_version_is_resumed_whole_or_not_at_all(assay: Callable, rows: Path) -> None:
    assay("evaluate", "rows.jsonl", "--gold")
    path = Path("runs/rows.gold/run.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), "assay_version": "0.0.1"}))
    assay("evaluate", "rows.jsonl", "--gold", "-i", "acme__calc-1").refuses(
        "was made by Assay 0.0.1; evaluate all of it"
    )
    assert assay("evaluate", "rows.jsonl", "--gold").code == 0


def test_a_run_without_a_kind_is_read_and_resumed(assay: Callable, rows: Path) -> None:
    assay("evaluate", "rows.jsonl", "--gold", "--run-id", "r")
    path = Path("runs/r/run.json")
    old = {name: value for name, value in json.loads(path.read_text()).items() if name not in {"kind", "given"}}
    path.write_text(json.dumps(old))
    assert assay("report", "show", "r").code == 0
    assert assay("evaluate", "rows.jsonl", "--gold", "--run-id", "r").err.count("known already") == 3
    assert json.loads(path.read_text())["kind"] == "control"


def test_the_mark_of_an_oracle_outlives_whatever_is_run_on_the_folder(
    assay: Callable, rows: Path, predictions: Callable, instance: Instance
) -> None:
    assay("solve", "rows.jsonl", "--agent", "gold", "--run-id", "s")
    Path("copy.jsonl").write_text(Path("runs/s/preds.jsonl").read_text().replace('"gold"', '"mine"'))
    for number, source in enumerate(("runs/s", "runs/s/preds.jsonl", "runs/s/preds.json")):
        run = f"r{number}"
        assert assay("evaluate", "rows.jsonl", "-p", source, "--run-id", run).code == 0
        again = assay("evaluate", "rows.jsonl", "-p", f"runs/{run}/predictions.jsonl", "--run-id", f"{run}b")
        assert again.code == 0
        for each in (run, f"{run}b"):
            assay("report", "export", each, "--format", "swebench").refuses("given the gold_patch")
    assert assay("evaluate", "rows.jsonl", "-p", "copy.jsonl", "--run-id", "r0").code == 2
    path = Path("runs/r1/run.json")
    assert assay("evaluate", "rows.jsonl", "-p", "runs/s/preds.jsonl", "--run-id", "r1", "--fresh").code == 0
    assert json.loads(path.read_text())["settings"]["oracle"] == "gold_patch"


def test_samples_of_single_instances_leave_the_others_in_the_files(assay: Callable, rows: Path) -> None:
    assay("solve", "rows.jsonl", "--agent", "gold", "--run-id", "s")
    assay("solve", "rows.jsonl", "--agent", "gold", "--run-id", "s", "-i", "acme__calc-3")
    for name in ("preds.jsonl", "solutions.jsonl"):
        found = [json.loads(line)["instance_id"] for line in Path(f"runs/s/{name}").read_text().splitlines()]
        assert found == ["acme__calc-1", "acme__calc-2", "acme__calc-3"]


def test_a_changed_data_set_is_validated_and_audited_again_in_the_same_folder(assay: Callable, rows: Path) -> None:
    assert assay("dataset", "validate", "rows.jsonl", "-k", "1").code == 0
    assert assay("dataset", "audit", "rows.jsonl", "--mutants", "1").code == 0
    rows.write_text(rows.read_text().replace("1.0", "1.1"))
    assert assay("dataset", "validate", "rows.jsonl", "-k", "1").code == 0
    assert assay("dataset", "audit", "rows.jsonl", "--mutants", "1").code == 0
