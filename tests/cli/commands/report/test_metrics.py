import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from toy import GOLD

WRONG = "--- a/other.py\n+++ b/other.py\n@@ -1,2 +1,2 @@\n def other():\n-    return 1\n+    return 2\n"


@pytest.fixture
def mirror(in_folder: Path, rows: Path) -> Path:
    """A repository with the base tree of all rows."""
    home = in_folder / "mirrors" / "acme" / "calc"
    home.mkdir(parents=True)
    (home / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    (home / "other.py").write_text("def other():\n    return 1\n")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@a"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "base"]):
        subprocess.run([*git, *command], cwd=home, check=True)
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=home, check=True, capture_output=True, text=True)
    rows.write_text(rows.read_text().replace("0" * 40, commit.stdout.strip()))
    return home.parent.parent


def test_the_patches_of_a_run_are_measured(assay: Callable, mirror: Path, predictions: Callable) -> None:
    predictions({"acme__calc-1": GOLD, "acme__calc-2": WRONG, "acme__calc-3": "no diff"})
    assay("evaluate", "rows.jsonl", "-p", "preds.jsonl", "--run-id", "mine")
    done = assay("report", "metrics", "mine", "--mirror", str(mirror), "--json")
    assert done.code == 0, done.err
    found = done.json
    ids = {each["instance_id"]: each for each in found["instances"]}
    same, wrong, words = (ids[f"acme__calc-{number}"] for number in (1, 2, 3))
    assert same["retrieval"]["nodes"] == {"precision": 1.0, "recall": 1.0, "f1": 1.0}
    assert (same["similarity"]["score"], same["complexity"], same["resolved"]) == (1.0, "single_function", True)
    assert wrong["retrieval"]["nodes"]["f1"] == wrong["retrieval"]["files"]["f1"] == 0
    assert wrong["similarity"] == {"score": 0.0, "problem": ""}
    assert words["similarity"]["problem"].startswith("the patch cannot be read")
    assert found["means"]["nodes"]["f1"] == pytest.approx(1 / 3)
    assert found["means"]["by_complexity"] == {"single_function": {"resolved": 1, "instances": 3}}
    shown = assay("report", "metrics", "mine", "--mirror", str(mirror)).out
    assert "functions P/R/F1  0.33/0.33/0.33 (mean of 3)" in shown
    assert "resolved by gold changes: single_function 1/3" in shown


def test_without_the_base_tree_the_rest_is_measured(assay: Callable, runs: None) -> None:
    git = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "url./nowhere/.insteadOf", "GIT_CONFIG_VALUE_0": "https://"}
    done = assay("report", "metrics", "gold", "--json", **git)
    assert done.code == 0, done.err
    means = done.json["means"]
    assert (means["files"]["f1"], means["nodes"], means["similarity"]) == (1.0, None, 1.0)
    assert "the base tree cannot be had" in done.json["instances"][0]["retrieval"]["problem"]
    shown = assay("report", "metrics", "gold", **git)
    assert shown.out.count("no base tree") == 3
    assert "3 instances without a base tree: the base tree cannot be had" in shown.err
    assert "cannot be had" not in shown.out


def test_a_run_without_evaluations_cannot_be_measured(assay: Callable, runs: None) -> None:
    for path in Path("runs/mine").glob("instances/*/verdict.json"):
        path.unlink()
    done = assay("report", "metrics", "mine")
    assert (done.code, "holds no evaluation to measure" in done.err) == (2, True)
