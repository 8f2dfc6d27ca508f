from collections.abc import Callable
from pathlib import Path

from rowfiles import lines
from samples import SAMPLES
from stand_ins import as_row
from toy import make_instance


def test_instances_of_other_dialects_are_shown(assay: Callable, in_folder: Path) -> None:
    listed = assay("dataset", "show", str(SAMPLES / "multi-swe-bench.jsonl"))
    assert "unknown" in listed.out
    one = assay("dataset", "show", str(SAMPLES / "swe-smith.jsonl"), "-i", "acme__clock.bbbbbbbb.lm_rewrite__1")
    assert f"{'b' * 40} with a patch on top" in one.out


def test_rows_without_labels_are_shown_and_predictions_are_no_data_set(assay: Callable, in_folder: Path) -> None:
    row = as_row(make_instance())
    del row["FAIL_TO_PASS"], row["PASS_TO_PASS"]
    shown = assay("dataset", "show", lines(in_folder, row))
    assert (shown.code, "1 instance of" in shown.out) == (0, True), shown.err
    Path("preds.jsonl").write_text('{"instance_id": "a__b-1", "model_patch": "", "model_name_or_path": "m"}\n')
    assay("evaluate", "preds.jsonl", "--gold").refuses("preds.jsonl holds predictions", "with -p")
