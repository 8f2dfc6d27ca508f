import json
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.cli.commands.diff_view import print_comparisons
from assay.harness.domain import PatchDiffFinding, PatchDiffResult
from assay.harness.runs.patchdiff_figures import patchdiff_figures
from assay.harness.runs.saved import SavedPatchDiff
from assay.harness.runs.store import RunStore
from toy import GOLD


def test_what_is_resolved_is_compared_and_rates_are_kept_apart(
    assay: Callable, rows: Path, predictions: Callable
) -> None:
    predictions({"acme__calc-1": GOLD, "acme__calc-2": ""})
    done = assay("diff", "rows.jsonl", "-p", "preds.jsonl", "--run-id", "mine", "--json")
    assert done.code == 0, done.err
    figures = done.json["patchdiff"]
    assert done.json["resolved_instances"] == figures["compared"] == 1
    assert figures["finding_of"] == {"acme__calc-1": "not_assessed"}  # nothing is traced on an engine that acts
    assert (figures["resolved_rate"], figures["suspicious_rate"], figures["not_assessed_rate"]) == (0.5, None, 0.5)
    saved = json.loads(Path("runs/mine/instances/acme__calc-1/patchdiff/comparison.json").read_text())
    assert saved["comparison"]["finding"] == "not_assessed"
    assert [each["name"] for each in saved["comparison"]["generators"]] == ["suites", "compose", "amplify", "replay"]


def test_the_same_command_compares_nothing_twice_and_other_settings_do(
    assay: Callable, rows: Path, predictions: Callable
) -> None:
    predictions({"acme__calc-1": GOLD})
    command = ("evaluate", "rows.jsonl", "-p", "preds.jsonl", "--patchdiff", "-g", "suites")
    assert "not_assessed (known already)" not in assay(*command).err
    assert "not_assessed (known already)" in assay(*command).err
    assert "not_assessed (known already)" not in assay(*command, "--seed", "1").err
    plain = assay("evaluate", "rows.jsonl", "-p", "preds.jsonl", "--json")
    assert plain.json["patchdiff"] is None


def test_wrong_names_are_told_before_any_work(assay: Callable, rows: Path, predictions: Callable) -> None:
    predictions({"acme__calc-1": GOLD})
    assay("diff", "rows.jsonl", "-p", "preds.jsonl", "-g", "suites,magic").refuses(
        "unknown generator 'magic'; known are amplify, compose, llm, replay, suites"
    )
    assay("diff", "rows.jsonl", "-p", "preds.jsonl", "-g", "llm").refuses("--model")


def test_dead_endpoint_is_said_before_any_test_runs(assay: Callable, rows: Path, predictions: Callable) -> None:
    predictions({"acme__calc-1": GOLD})
    model = ("-g", "llm", "--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    done = assay("diff", "rows.jsonl", "-p", "preds.jsonl", *model)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("asking m one short question\nassay: no connection to http://127.0.0.1:9/v1: ")
    assert not list(Path("runs").glob("*/instances/*"))


def test_what_could_not_be_assessed_or_is_not_resolved_is_not_called_unsuspicious(
    assay: Callable, rows: Path, predictions: Callable
) -> None:
    predictions({"acme__calc-1": GOLD})
    done = assay("diff", "rows.jsonl", "-p", "preds.jsonl")
    assert "of 1 resolved, none could be assessed" in done.out
    assert "suspicious" not in done.out
    predictions({"acme__calc-1": ""})
    done = assay("diff", "rows.jsonl", "-p", "preds.jsonl", "--run-id", "empty")
    assert (done.code, "nothing is resolved, so nothing was compared" in done.out) == (0, True)


def test_summary_has_the_rate_of_what_is_not_refuted_with_its_interval(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, found = RunStore(tmp_path / "run"), (PatchDiffFinding.REGRESSION, PatchDiffFinding.NO_DIFFERENCE_FOUND)
    compared = [PatchDiffResult(instance_id=f"a__b-{n}", finding=each) for n, each in enumerate(found)]
    for each in compared:
        store.save_patchdiff(SavedPatchDiff(key="k", comparison=each), {})
    print_comparisons(store, patchdiff_figures(compared, 4))
    assert capsys.readouterr().out.splitlines()[-1] == (
        "PatchDiff: of 2 resolved, 2 assessed: 1 with a regression, 0 suspicious; "
        "resolved and not refuted: 1 of 4, 25.0% (4.6% to 69.9%)"
    )
