"""``--shard I/N``: a part of a run, as a person asks for it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toy import GOLD

PARTS = ("1/2", "2/2")


def manifest(run: str) -> Any:
    return json.loads(Path(f"runs/{run}/run.json").read_text())


def test_parts_evaluate_everything_once(assay: Callable, rows: Path) -> None:
    done = [assay("evaluate", "rows.jsonl", "--gold", "--shard", part, "--json") for part in PARTS]
    assert [each.code for each in done] == [0, 0]
    assert [each.json["resolved_ids"] for each in done] == [["acme__calc-1", "acme__calc-3"], ["acme__calc-2"]]
    first, second = (manifest(f"rows.gold.shard-{number}-of-2") for number in (1, 2))
    assert [(each["number"], each["of"]) for each in (*first["shards"], *second["shards"])] == [(1, 2), (2, 2)]
    assert first["shards"][0]["cut"] == second["shards"][0]["cut"]
    assert first["instance_ids"] == ["acme__calc-1", "acme__calc-3"]


def test_a_run_without_parts_says_so(assay: Callable, rows: Path) -> None:
    assert assay("evaluate", "rows.jsonl", "--gold").code == 0
    assert manifest("rows.gold")["shards"] == []


def test_predictions_are_dealt_evenly_whatever_the_others_are(
    assay: Callable, rows: Path, predictions: Callable
) -> None:
    predictions({"acme__calc-3": GOLD, "acme__calc-2": ""})
    done = [
        assay("evaluate", "rows.jsonl", "-p", "preds.jsonl", "--run-id", "r", "--shard", part, "--json")
        for part in PARTS
    ]
    assert [each.json["submitted_ids"] for each in done] == [["acme__calc-2"], ["acme__calc-3"]]
    assert sorted(name for each in done for name in each.json["incomplete_ids"]) == ["acme__calc-1"]


def test_durations_balance_the_parts(assay: Callable, rows: Path) -> None:
    Path("seconds.json").write_text(json.dumps({"acme__calc-1": 1, "acme__calc-2": 1, "acme__calc-3": 60}))
    options = ("evaluate", "rows.jsonl", "--gold", "--durations", "seconds.json", "--json")
    done = [assay(*options, "--shard", part) for part in PARTS]
    assert [each.json["resolved_ids"] for each in done] == [["acme__calc-3"], ["acme__calc-1", "acme__calc-2"]]


@pytest.mark.parametrize("command", ["--gold", "--controls", "--patchdiff"])
def test_a_part_without_instances_is_a_finished_run(assay: Callable, rows: Path, command: str) -> None:
    more = () if command == "--gold" else (command,)
    done = assay("evaluate", "rows.jsonl", "--gold", *more, "--run-id", "r", "--shard", "5/5", "--fail-under", "50")
    assert done.code == 0, done.err
    assert "0 of 0 resolved" in done.out
    assert json.loads(Path("runs/r.shard-5-of-5/report.json").read_text())["total_instances"] == 0
    assert assay("report", "show", "r.shard-5-of-5").code == 0
    again = assay("evaluate", "rows.jsonl", "--gold", *more, "--run-id", "r.shard-5-of-5", "--shard", "5/5")
    assert again.code == 0, again.err
    assert [path.name for path in Path("runs").glob("r*")] == ["r.shard-5-of-5"]


@pytest.mark.parametrize("shard", ["3/2", "0/2", "two", "1"])
@pytest.mark.parametrize(
    "command",
    [
        ("evaluate", "rows.jsonl", "--gold"),
        ("diff", "rows.jsonl", "-p", "preds.jsonl"),
        ("solve", "rows.jsonl", "--agent", "gold"),
    ],
)
def test_a_wrong_part_gets_one_line_and_leaves_nothing(
    assay: Callable, rows: Path, predictions: Callable, command: tuple[str, ...], shard: str
) -> None:
    predictions({"acme__calc-1": ""})
    assay(*command, "--shard", shard).refuses("--shard")
    assert not Path("runs").exists()


def test_durations_without_a_part_are_refused(assay: Callable, rows: Path) -> None:
    Path("seconds.json").write_text("{}")
    done = assay("evaluate", "rows.jsonl", "--gold", "--durations", "seconds.json")
    assert (done.code, done.err) == (2, "assay: --durations balances shards; add --shard I/N\n")


def test_a_part_that_would_be_cut_otherwise_is_refused(assay: Callable, rows: Path, predictions: Callable) -> None:
    predictions({f"acme__calc-{number}": GOLD for number in (1, 2)})
    command = ("evaluate", "rows.jsonl", "-p", "preds.jsonl", "--run-id", "r", "--shard", "1/2")
    assert assay(*command).code == 0
    predictions({f"acme__calc-{number}": GOLD for number in (1, 2, 3)})
    assay(*command).refuses("was made with --shard 1/2 (cut ")


def test_a_whole_run_does_not_go_into_the_folder_of_a_part(assay: Callable, rows: Path) -> None:
    assay("evaluate", "rows.jsonl", "--gold", "--run-id", "r", "--shard", "1/2")
    assay("evaluate", "rows.jsonl", "--gold", "--run-id", "r.shard-1-of-2").refuses("was made with --shard 1/2")


def test_a_part_may_be_named_by_a_variable(assay: Callable, rows: Path) -> None:
    done = assay("evaluate", "rows.jsonl", "--gold", "--json", ASSAY_SHARD="2/2")
    assert done.json["resolved_ids"] == ["acme__calc-2"]


def test_patches_are_compared_in_parts(assay: Callable, rows: Path, predictions: Callable) -> None:
    predictions({f"acme__calc-{number}": GOLD for number in (1, 2, 3)})
    done = [assay("diff", "rows.jsonl", "-p", "preds.jsonl", "--shard", part, "--json") for part in PARTS]
    assert [each.code for each in done] == [0, 0], done
    assert [[*each.json["patchdiff"]["finding_of"]] for each in done] == [
        ["acme__calc-1", "acme__calc-3"],
        ["acme__calc-2"],
    ]


def test_an_agent_solves_in_parts(assay: Callable, rows: Path) -> None:
    command = ("solve", "rows.jsonl", "--agent", "gold", "--evaluate", "--run-id", "s")
    done = [assay(*command, "--json", "--shard", f"{number}/4") for number in (1, 2, 3, 4)]
    assert [each.code for each in done] == [0, 0, 0, 0], done[-1].err
    solved = [[solution["instance_id"] for solution in each.json["solutions"]] for each in done]
    assert solved == [["acme__calc-1"], ["acme__calc-2"], ["acme__calc-3"], []]
    assert Path("runs/s.shard-3-of-4.evaluated/report.json").exists()
    assert "no instance is in this shard" in assay(*command, "--shard", "4/4").out
