from collections.abc import Callable
from pathlib import Path


def test_two_runs_are_compared(assay: Callable, runs: None) -> None:
    done = assay("report", "compare", "gold", "runs/mine")
    assert done.code == 0, done.err
    assert "2 instances of 1 repository, evaluated in all runs · rows" in done.out
    assert "left out, not evaluated in mine: 1 (acme__calc-3)" in done.out
    assert "only gold (of gold, mine): acme__calc-2" in done.out
    assert "+50.0 points" in done.out
    assert "rest on 1 repository only" in done.out


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
    result = {
        ("gold", "gold"): "two or more different runs",
        ("gold", "golden"): "there is no run 'golden' in runs; did you mean gold?",
        ("gold", "mine", "--cost", "other=1"): "one of the runs gold, mine",
        ("gold", "mine", "--cost", "mine=much"): "'much' is no amount",
    }
    for arguments, words in result.items():
        assay("report", "compare", *arguments).refuses(words)


def test_runs_of_two_data_sets_are_refused(assay: Callable, runs: None, rows: Path) -> None:
    rows.write_text("".join(rows.read_text().splitlines(keepends=True)[:1]))
    assay("evaluate", "rows.jsonl", "--gold", "--run-id", "less")
    assay("report", "compare", "gold", "less").refuses("runs of different data sets cannot be compared: gold of rows")
