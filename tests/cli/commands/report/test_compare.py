"""``assay report compare`` and ``assay report metrics`` as a person calls them."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.harness.domain import Instance

WRONG = "--- a/other.py\n+++ b/other.py\n@@ -1,2 +1,2 @@\n def other():\n-    return 1\n+    return 2\n"


@pytest.fixture
def runs(assay: Callable, rows: Path, predictions: Callable, instance: Instance) -> None:
    """Two runs: ``gold`` resolves all, ``mine`` the first of two that it has a patch for."""
    assay("evaluate", "rows.jsonl", "--gold", "--run-id", "gold")
    predictions({"acme__calc-1": instance.gold_patch, "acme__calc-2": ""})
    assert assay("evaluate", "rows.jsonl", "-p", "preds.jsonl", "--run-id", "mine").code == 0


def test_two_runs_are_compared(assay: Callable, runs: None) -> None:
    done = assay("report", "compare", "gold", "runs/mine")
    assert done.code == 0, done.err
    assert "2 instances of 1 repositories, evaluated in all runs · rows" in done.out
    assert "left out, not evaluated in mine: 1 (acme__calc-3)" in done.out
    assert "only gold (of gold, mine): acme__calc-2" in done.out
    assert "+50.0 points" in done.out
    assert "rest on 1 repositories only" in done.out


def test_a_comparison_is_one_json_object(assay: Callable, runs: None) -> None:
    arguments = ("report", "compare", "gold", "mine", "--json", "--cost", "mine=3.5", "--seed", "7", "--samples", "200")
    found = assay(*arguments).json
    assert found == assay(*arguments).json
    assert [(each["run"], each["model"], each["resolved"]) for each in found["runs"]] == [
        ("gold", "gold", 2),
        ("mine", "acme/model", 1),
    ]
    assert [each["cost_per_resolved"] for each in found["runs"]] == [None, 3.5]
    (pair,) = found["pairs"]
    assert (pair["only_first"], pair["only_second"], pair["p"]) == (["acme__calc-2"], [], 1.0)
    assert (found["seed"], found["samples"]) == (7, 200)
    assert found["left_out"] == {"acme__calc-3": "not evaluated in mine"}


def test_runs_of_one_model_give_pass_at_k(assay: Callable, runs: None, predictions: Callable) -> None:
    predictions({"acme__calc-1": "", "acme__calc-2": ""})
    assay("evaluate", "rows.jsonl", "-p", "preds.jsonl", "--run-id", "again")
    done = assay("report", "compare", "mine", "again", "--json")
    (model,) = done.json["models"]
    assert (model["model"], model["runs"]) == ("acme/model", ["mine", "again"])
    estimates = [(each["at_least_one"]["estimate"], each["all_of_them"]["estimate"]) for each in model["rates"]]
    assert estimates == [(0.25, 0.25), (0.5, 0)]
    shown = assay("report", "compare", "mine", "again", "gold").out
    assert "acme/model, 2 runs: mine, again" in shown
    assert "pass^k" in shown
    assert "mine - gold" in shown
    assert "mine - again" not in shown


def test_what_cannot_be_compared_is_said_in_one_line(assay: Callable, runs: None) -> None:
    told = {
        ("gold", "gold"): "two or more different runs",
        ("gold", "golden"): "there is no run 'golden' in runs; known are: gold, mine",
        ("gold", "mine", "--cost", "other=1"): "one of the runs gold, mine",
        ("gold", "mine", "--cost", "mine=much"): "'much' is no amount",
    }
    for arguments, words in told.items():
        done = assay("report", "compare", *arguments)
        assert (done.code, done.out) == (2, "")
        assert words in done.err


def test_runs_of_two_data_sets_are_refused(assay: Callable, runs: None, rows: Path) -> None:
    rows.write_text("".join(rows.read_text().splitlines(keepends=True)[:1]))
    assay("evaluate", "rows.jsonl", "--gold", "--run-id", "less")
    done = assay("report", "compare", "gold", "less")
    assert done.code == 2
    assert "runs of different data sets cannot be compared: gold of rows" in done.err


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


def test_the_patches_of_a_run_are_measured(
    assay: Callable, mirror: Path, predictions: Callable, instance: Instance
) -> None:
    predictions({"acme__calc-1": instance.gold_patch, "acme__calc-2": WRONG, "acme__calc-3": "no diff"})
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


def test_a_run_without_evaluations_cannot_be_measured(assay: Callable, runs: None) -> None:
    for path in Path("runs/mine").glob("instances/*/verdict.json"):
        path.unlink()
    done = assay("report", "metrics", "mine")
    assert done.code == 2
    assert "holds no evaluation to measure" in done.err
