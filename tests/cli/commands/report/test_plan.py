from collections.abc import Callable
from pathlib import Path

import pytest


def test_files_of_scores_are_one_group_after_the_other(assay: Callable, in_folder: Path) -> None:
    Path("1.csv").write_text(",old,new,other\n0,1,11,1\n1,2,12,2\n2,3,13,3\n3,4,14,4\n")
    done = assay("report", "plan", "--scores", "1.csv", "--group", "4", "--looks", "2", "--alpha", "0.2")
    assert done.code == 0, done.err
    assert "smaller (look 1)" in done.out
    assert "old: 4 more runs for the next look, 4 at most" in done.out
    assert "new: " not in done.out
    Path("2.csv").write_text("old,other\n2,2\n1,1\n4,4\n3,3\n")
    files = ("--scores", "1.csv", "--scores", "2.csv")
    found = assay("report", "plan", *files, "--group", "4", "--looks", "2", "--alpha", "0.2", "--json").json
    assert [each["decision"] for each in found["pairs"]] == ["smaller", "equal", "larger"]
    assert found["runs"] == {"old": 8, "new": 4, "other": 8}


@pytest.mark.usefixtures("runs")
def test_runs_of_a_model_are_one_system(assay: Callable) -> None:
    assert assay("evaluate", "rows.jsonl", "-p", "preds.jsonl", "--run-id", "again").code == 0
    found = assay("report", "plan", "mine", "again", "gold", "--group", "2", "--json").json
    assert found["next_runs"] == {"acme/model": 0, "gold": 1}
    assert found["looked"] == 0


def test_what_cannot_be_compared_is_refused_in_one_line(assay: Callable, in_folder: Path) -> None:
    assay("report", "plan").refuses("names of runs or --scores FILE")
    Path("1.csv").write_text("a,b\n1,x\n")
    assay("report", "plan", "--scores", "1.csv").refuses("1.csv", "field b", "'x' is no score")
