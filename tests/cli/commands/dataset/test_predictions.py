"""``assay dataset predictions``, and ``assay evaluate -p`` with the same sources."""

import json
from collections.abc import Callable
from pathlib import Path

import prediction_sources as sources
from toy import GOLD


def test_a_run_gives_its_predictions_back(assay: Callable, rows: Path, predictions: Callable) -> None:
    given = {"acme__calc-1": GOLD, "acme__calc-2": "", "acme__calc-3": "no diff at all \u2028é"}
    predictions(given)
    first = assay("evaluate", "rows.jsonl", "-p", "preds.jsonl", "--run-id", "first", "--json")
    assert assay("dataset", "predictions", "runs/first", "-o", "back.jsonl").out == "3 predictions: back.jsonl\n"
    back = [json.loads(line) for line in Path("back.jsonl").read_text().splitlines()]
    assert {row["instance_id"]: row["model_patch"] for row in back} == given
    assert {row["model_name_or_path"] for row in back} == {"acme/model"}
    second = assay("evaluate", "rows.jsonl", "-p", "runs/first", "--run-id", "second", "--json")
    assert second.json["outcomes"] == first.json["outcomes"]


def test_a_job_and_a_log_are_evaluated(assay: Callable, rows: Path) -> None:
    one = sources.trial(Path("job"), "t", "org/acme__calc-1")
    sources.write(one / "artifacts/logs/artifacts/model.patch", GOLD)
    sources.trial(Path("job"), "u", "acme__calc-2", exception_info={"exception_type": "AgentTimeoutError"})
    scores = {"s": {"metadata": {"model_patch": GOLD}}}
    sources.archive(Path("log.eval"), sources.sample("acme__calc-1", scores=scores))
    for source in ("job", "log.eval"):
        done = assay("evaluate", "rows.jsonl", "-p", source, "--run-id", source.replace(".", "-"), "--json")
        assert done.code == 0, done.err
        assert done.json["resolved_ids"] == ["acme__calc-1"]
        assert done.json["incomplete_ids"] == ["acme__calc-2", "acme__calc-3"]
    assert "no prediction for acme__calc-2: no patch (AgentTimeoutError)" in assay("dataset", "predictions", "job").err


def test_the_mark_of_an_oracle_stays_with_a_run_folder_and_with_exported_patches(assay: Callable, rows: Path) -> None:
    assay("solve", "rows.jsonl", "--agent", "gold", "--run-id", "solved", "--evaluate")
    assert assay("report", "export", "solved.evaluated", "--format", "harbor", "-o", "jobs").code == 0
    for source in ("runs/solved", "jobs"):
        done = assay("evaluate", "rows.jsonl", "-p", source, "--run-id", f"of-{Path(source).name}", "--json")
        assert done.json["resolved_instances"] == 3
        about = json.loads(Path(f"runs/of-{Path(source).name}/run.json").read_text())
        assert about["settings"]["oracle"] == "gold_patch"


def test_one_attempt_is_taken(assay: Callable, in_folder: Path) -> None:
    sources.json_log(Path("log.json"), sources.sample("a__b-1"), sources.sample("a__b-1", 2), sources.sample("a__b-2"))
    refused = assay("dataset", "predictions", "log.json")
    assert (refused.code, len(refused.err.strip().splitlines())) == (2, 1)
    done = assay("dataset", "predictions", "log.json", "--attempt", "2", "--json")
    assert (done.json["predictions"], done.json["left_out"]) == (1, ["a__b-2: has no attempt 2"])
    assert [row["instance_id"] for row in done.json["rows"]] == ["a__b-1"]
