import json
from collections.abc import Callable
from pathlib import Path

import pytest

from toy import GOLD

EVALUATE = ("evaluate", "rows.jsonl", "-p", "preds.jsonl", "--run-id", "mine")
MERGE = ("report", "merge", "mine.shard-1-of-2", "runs/mine.shard-2-of-2", "-o", "runs/mine")


@pytest.fixture
def parts(assay: Callable, rows: Path, predictions: Callable) -> None:
    predictions({"acme__calc-1": GOLD, "acme__calc-2": "", "acme__calc-3": GOLD})
    for number in (1, 2):
        done = assay(*EVALUATE, "--shard", f"{number}/2")
        assert done.code == 0, done.err


def test_parts_become_one_run(assay: Callable, parts: None) -> None:
    done = assay(*MERGE)
    assert (done.code, done.out) == (0, "2 of 3 resolved, 1 empty_patch · runs/mine, merged from 2 runs\n"), done.err
    single = assay(*EVALUATE, "--runs-dir", "elsewhere")
    assert single.code == 0
    assert Path("runs/mine/report.json").read_bytes() == Path("elsewhere/mine/report.json").read_bytes()
    assert assay("report", "show", "mine").out.count("acme__calc") == 3
    assert assay("report", "regrade", "mine").out.startswith("0 verdicts changed")


def test_a_merged_run_is_one_object_of_json(assay: Callable, parts: None) -> None:
    done = assay(*MERGE, "mine.shard-1-of-2", "--json")
    assert done.code == 0
    assert done.json["twice"] == ["acme__calc-1", "acme__calc-3"]
    assert done.json["missing"] == []
    assert done.json["report"] == json.loads(Path("runs/mine/report.json").read_text())


def test_what_is_missing_is_named_and_nothing_written(assay: Callable, parts: None) -> None:
    done = assay("report", "merge", "mine.shard-2-of-2", "-o", "runs/mine")
    assert (done.code, done.out) == (4, "")
    assert done.err.splitlines() == [
        "missing: shard 1/2 is not among the runs",
        "nothing was written; --allow-missing merges what there is",
    ]
    assert not Path("runs/mine").exists()
    done = assay("report", "merge", "mine.shard-2-of-2", "-o", "runs/mine", "--allow-missing")
    assert (done.code, done.err) == (0, "missing: shard 1/2 is not among the runs\n")
    assert "0 of 1 resolved" in done.out
    assert assay(*MERGE).code == 0
    assert len(json.loads(Path("runs/mine/report.json").read_text())["submitted_ids"]) == 3


def test_too_few_resolved_is_the_same_exit_status_as_of_one_process(assay: Callable, parts: None) -> None:
    assert assay(*MERGE, "--fail-under", "66").code == 0
    assert assay(*MERGE, "--fail-under", "67").code == 5


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nothing", "-o", "runs/x"), "there is no run 'nothing'"),
        (("mine.shard-1-of-2", "-o", "/"), "-o /: a run cannot have this name"),
        (("mine.shard-1-of-2", "-o", "runs/.x"), "-o runs/.x: a run cannot have this name"),
        (("mine.shard-1-of-2", "--allow-missing", "-o", "runs/mine.shard-1-of-2"), "is one of the runs"),
        (("mine.shard-1-of-2", "--allow-missing", "-o", "."), "is not empty and holds no merged run"),
        (("mine.shard-1-of-2",), "missing option"),
    ],
)
def test_wrong_input_gets_one_line(assay: Callable, parts: None, words: tuple[str, ...], message: str) -> None:
    before = sorted(Path().rglob("*"))
    done = assay("report", "merge", *words)
    assert (done.code, done.out) == (2, "")
    *notes, error = done.err.splitlines()
    assert message in error
    assert all(note.startswith("missing: ") for note in notes)
    assert sorted(Path().rglob("*")) == before


def test_evaluations_of_a_solvers_shards_are_merged_without_it(assay: Callable, rows: Path) -> None:
    assay("solve", "rows.jsonl", "--agent", "gold", "--run-id", "s", "--evaluate", "--shard", "1/2")
    done = assay("report", "merge", "s.shard-1-of-2.evaluated", "-o", "runs/s.evaluated")
    assert done.code == 0, done.err


def test_controls_make_a_merged_run_that_can_be_sealed(assay: Callable, rows: Path, tmp_path: Path) -> None:
    for number in (1, 2):
        done = assay("evaluate", "rows.jsonl", "--gold", "--controls", "--run-id", "mine", "--shard", f"{number}/2")
        assert done.code == 0
    assert assay(*MERGE).code == 0
    sealed = assay("report", "bundle", "mine", "-o", "mine.bundle", "--new-key", "key")
    assert sealed.code == 0, sealed.err
    checked = assay("report", "verify", "mine.bundle")
    assert checked.code == 0, checked.out
