import json
from collections.abc import Callable
from pathlib import Path

from samples import SAMPLES


def test_rows_are_converted_to_a_file_and_to_stdout(assay: Callable, rows: Path) -> None:
    done = assay("dataset", "convert", "rows.jsonl", "--to", "native", "-o", "mine.jsonl")
    assert (done.code, done.out) == (0, "3 instances as rows of native: mine.jsonl\n")
    assert assay("dataset", "check", "mine.jsonl").out.startswith("3 good instances")
    piped = assay("dataset", "convert", "mine.jsonl", "--to", "swebench", "-i", "acme__calc-2")
    assert [json.loads(line)["instance_id"] for line in piped.out.splitlines()] == ["acme__calc-2"]


def test_native_rows_can_be_a_folder_that_is_evaluated(assay: Callable, rows: Path) -> None:
    done = assay("dataset", "convert", "rows.jsonl", "--to", "native", "-o", "mine")
    assert (done.code, done.out) == (0, "3 instances as rows of native: mine\n")
    assert Path("mine/tasks/acme__calc-2/gold.patch").is_file()
    assert "3 of 3 resolved" in assay("evaluate", "mine", "--gold").out
    assay("dataset", "convert", "rows.jsonl", "--to", "swebench", "-o", "theirs").refuses(
        "native ones also to a folder"
    )


def test_what_a_conversion_leaves_out_is_said(assay: Callable, in_folder: Path) -> None:
    path = str(SAMPLES / "multi-swe-bench.jsonl")
    done = assay("dataset", "convert", path, "--to", "swebench", "-o", "x.jsonl")
    assert (done.code, "field rule" in done.err, Path("x.jsonl").exists()) == (2, True, False)
    done = assay("dataset", "convert", path, "--to", "swebench", "--lossy", "-o", "x.jsonl")
    assert done.code == 0
    assert "left out of 3 instances: rule is multi-swe-bench" in done.err
    done = assay("dataset", "convert", path, "--to", "swebench", "--lossy", "--json")
    assert (done.json["dialect"], len(done.json["rows"])) == ("swebench", 3)
    assert [loss.split()[0] for loss in done.json["losses"]["acme__gears-4"]] == ["rule", "environment", "stages"]


def test_an_unknown_dialect_is_one_line(assay: Callable, rows: Path) -> None:
    assay("dataset", "convert", "rows.jsonl", "--to", "swe_smith").refuses("did you mean swe-smith?")
