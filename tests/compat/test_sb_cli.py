"""``assay sb-cli`` on an engine that acts instances out, and the real client."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from other_tools import run_with
from toy import GOLD

ONE, TWO, THREE = "acme__calc-1", "acme__calc-2", "acme__calc-3"
CALL = ("sb-cli", "submit", "swe-bench_lite", "test", "--predictions_path", "preds.jsonl", "--rows", "rows.jsonl")
REPORT = Path("sb-cli-reports/swe-bench_lite__test__r1.json")
CLIENT = """
import json, pathlib, sys
from sb_cli.get_report import get_str_report, safe_save_json
report = json.load(open(sys.argv[1]))
print(get_str_report(report))
print(f"Saved full report to {safe_save_json(report, pathlib.Path(sys.argv[2]))}!")
"""


@pytest.fixture(autouse=True)
def two(rows: Path, predictions: Callable) -> None:
    """Write three rows, and predictions for two of them: right, and no patch."""
    predictions({ONE: GOLD, TWO: ""})


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def test_it_leaves_the_report_of_the_service(assay: Callable) -> None:
    done = assay(*CALL, "--run_id", "r1", "--wait_for_evaluation", "1", "--api_key", "k")
    assert done.code == 0, done.err
    assert "ignored, since they mean nothing here: --wait_for_evaluation, --api_key" in done.err
    report = read(REPORT)
    counts = {name: report[f"{name}_instances"] for name in ("total", "submitted", "resolved", "error", "pending")}
    assert counts == {"total": 3, "submitted": 2, "resolved": 1, "error": 0, "pending": 0}
    assert (report["resolved_ids"], report["incomplete_ids"], report["failed_ids"]) == ([ONE], [THREE], [])
    assert "Resolved (total): 33.33% (1 / 3)\nResolved (submitted): 50.00% (1 / 2)\n" in done.out


def test_a_report_that_is_there_is_replaced_only_if_asked(assay: Callable) -> None:
    assert assay(*CALL, "--run_id", "r1", "--gen_report", "0").code == 0
    assert not REPORT.exists()
    get = ("sb-cli", "get-report", "swe-bench_lite", "test", "r1")
    assert assay(*get).code == 0
    REPORT.write_text("{}")
    assert "r1-1.json!" in assay(*get).out
    assert read(REPORT) == {}
    assert assay(*get, "--overwrite", "1").code == 0
    assert read(REPORT) == read(REPORT.with_name("swe-bench_lite__test__r1-1.json"))


def test_the_run_is_named_after_the_predictions_and_ids_are_separated_by_commas(assay: Callable) -> None:
    assert assay(*CALL, "--run_id", "STEM", "--instance_ids", f"{TWO},{THREE}", "-o", "out").code == 0
    report = read(Path("out/swe-bench_lite__test__preds.json"))
    assert (report["submitted_ids"], report["empty_patch_ids"]) == ([TWO], [TWO])


def test_what_failed_here_is_named(assay: Callable, lacking: Callable) -> None:
    assert assay(*CALL, "--run_id", "r1", ASSAY_ENGINE=lacking(ONE)).code == 0
    report = read(REPORT)
    assert (report["failed_ids"], report["error_ids"], report["unresolved_ids"]) == ([ONE], [ONE], [])


def test_wrong_input_ends_with_one(assay: Callable) -> None:
    assert assay("sb-cli", "get-report", "swe-bench_lite", "test", "never").code == 1
    assert assay(*CALL, "--instance_ids", THREE).code == 1
    assay("sb-cli", "submit", "mine", *CALL[3:]).refuses("mine", "swe-bench_verified")
    Path("preds.jsonl").write_text(
        "".join(json.dumps({"instance_id": n, "model_name_or_path": n, "model_patch": ""}) + "\n" for n in (ONE, TWO))
    )
    done = assay(*CALL)
    assert (done.code, "several models" in done.err) == (1, True)


@pytest.mark.network
def test_the_real_client_prints_and_saves_the_same(assay: Callable) -> None:
    done = assay(*CALL, "--run_id", "r1")
    again = REPORT.with_name("again.json")
    printed = run_with(["sb-cli==0.1.5"], "python", "-c", CLIENT, str(REPORT), str(again))
    assert printed == done.out.replace(str(REPORT), str(again))
    assert again.read_bytes() == REPORT.read_bytes()
