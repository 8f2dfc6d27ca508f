"""Logs found in what other harnesses leave, and in any part of it."""

import json
from pathlib import Path

import pytest

from assay.harness.errors import DataError
from assay.harness.grading.log_trees import find_logs, read_patch, read_resolved

SWE_BENCH = "logs/run_evaluation/r1/some__model/o__r-1/test_output.txt"
SUBMITTED = "evaluation/lite/20240402_model/logs/o__r-1/test_output.txt"
OLDER = "evaluation/lite/20240402_model/logs/o__r-1.20240402_model.eval.log"
MULTI = "work/O/r/evals/pr-1/fix-patch-run.log"


def write(root: Path, *paths: str, text: str = "a log") -> Path:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


@pytest.mark.parametrize("place", [SWE_BENCH, SUBMITTED, OLDER, MULTI, "o__r-1.txt", "O__R-1.any.thing.LOG"])
def test_a_log_is_found_from_each_folder_above_it(tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, place)
    for folder in list((tmp_path / place).relative_to(tmp_path).parents):
        logs, strangers = find_logs(tmp_path / folder, ["o__r-1"])
        assert (list(logs), strangers) == (["o__r-1"], ()), folder
        assert logs["o__r-1"].samefile(tmp_path / place)
    monkeypatch.chdir((tmp_path / place).parent)
    assert find_logs(Path(), ["o__r-1"])[0]["o__r-1"].is_file()


def test_what_lies_beside_and_before_a_log_is_none(tmp_path: Path) -> None:
    write(
        tmp_path,
        SWE_BENCH,
        *("logs/run_evaluation/r1/some__model/o__r-1/run_instance.log", "README.txt.md", "notes/o__r-2.log"),
        *("logs/o__r-2/run_instance.log", "trajs/o__r-2.log", "trajs/o__r-2/test_output.txt"),
        *("work/o/r/evals/pr-2/run.log", "work/o/r/instances/pr-2/fix-patch-run.log"),
        "work/o/r/evals/pr-2/test-patch-run.log",
    )
    logs, strangers = find_logs(tmp_path, ["o__r-1", "o__r-2"])
    assert (list(logs), strangers) == (["o__r-1"], ())


def test_logs_of_other_instances_are_named_by_their_path(tmp_path: Path) -> None:
    write(
        tmp_path, SWE_BENCH, "logs/o__r-3/test_output.txt", "logs/other.log", "work/o/r/evals/pr-10/fix-patch-run.log"
    )
    expected = {"logs/o__r-3/test_output.txt", "logs/other.log", "work/o/r/evals/pr-10/fix-patch-run.log"}
    assert set(find_logs(tmp_path, ["o__r-1"])[1]) == expected


def test_two_runs_in_one_tree_are_refused(tmp_path: Path) -> None:
    write(tmp_path, SWE_BENCH, SWE_BENCH.replace("r1", "r2"))
    with pytest.raises(DataError, match=r"r2/.*/test_output\.txt: o__r-1: logs/.*r1/.*name the folder of one run"):
        find_logs(tmp_path, ["o__r-1"])


def test_patch_and_verdict_beside_a_log_are_read(tmp_path: Path) -> None:
    write(tmp_path, SWE_BENCH, MULTI, OLDER, f"{Path(OLDER).parent}/patch.diff")
    logs = [tmp_path / each for each in (SWE_BENCH, MULTI, OLDER)]
    assert [read_patch(each) for each in logs] == [None, None, None]
    logs[0].with_name("patch.diff").write_text("one")
    logs[1].with_name("fix.patch").write_text("two")
    assert [read_patch(each) for each in logs] == ["one", "two", None]
    report = logs[0].with_name("report.json")
    for said in (True, False, "yes"):
        report.write_text(json.dumps({"o__r-1": {"resolved": said}}))
        assert read_resolved(logs[0], "o__r-1") is (said if said != "yes" else None)
    for text in ('{"o__r-2": {"resolved": true}}', "[1]", ""):
        report.write_text(text)
        assert read_resolved(logs[0], "o__r-1") is None
