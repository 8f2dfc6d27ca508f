"""``assay swebench run_evaluation`` on an engine that acts instances out."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.compat.swebench import make_script
from toy import GOLD

ONE, TWO, THREE = "acme__calc-1", "acme__calc-2", "acme__calc-3"
WRONG = GOLD.replace("+    return a + b", "+    return b - a")
LOGS, MODEL = Path("logs/run_evaluation/r1"), "acme__model"
FILES = ("patch.diff", "report.json", "run_instance.log", "test_output.txt")
CALL = ("swebench", "run_evaluation", "-d", "rows.jsonl", "-p", "preds.jsonl", "-id", "r1")


def read(path: Path | str) -> Any:
    return json.loads(Path(path).read_text())


def list_files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.fixture(autouse=True)
def three(rows: Path, predictions: Callable) -> None:
    """Write rows and predictions: right, wrong and empty."""
    predictions({ONE: GOLD, TWO: WRONG, THREE: ""})


def test_it_leaves_the_logs_and_the_report_of_swebench(assay: Callable) -> None:
    long = ("--dataset_name", "rows.jsonl", "--predictions_path", "preds.jsonl", "--run_id", "r1")
    done = assay("swebench", "run_evaluation", *long, "--max_workers", "2", "--timeout", "60", "--report_dir", "out")
    assert done.code == 0, done.err
    assert list_files(LOGS) == sorted(["run.json", *(f"{MODEL}/{n}/{file}" for n in (ONE, TWO) for file in FILES)])
    assert (LOGS / MODEL / TWO / "patch.diff").read_text() == WRONG
    assert read(LOGS / MODEL / ONE / "report.json")[ONE]["resolved"] is True
    assert read(LOGS / MODEL / TWO / "report.json")[TWO]["tests_status"]["FAIL_TO_PASS"]["failure"]
    assert {"dataset": "rows.jsonl", "split": "test", "task_repo": None}.items() <= read(LOGS / "run.json").items()
    report = read(f"out/{MODEL}.r1.json")
    assert report["schema_version"] == 2
    assert (report["resolved_ids"], report["unresolved_ids"], report["empty_patch_ids"]) == ([ONE], [TWO], [THREE])
    assert (report["unstopped_containers"], report["unremoved_images"]) == ([], [])
    assert "Instances resolved: 1\nInstances unresolved: 1\n" in done.out
    assert done.out.splitlines()[-1] == f"Report written to out/{MODEL}.r1.json"
    assert read(f"runs/{MODEL}.r1/run.json")["settings"]["timeout"] == "60"


def test_several_ids_may_follow_their_flag_and_the_others_are_submitted_all_the_same(assay: Callable) -> None:
    done = assay("swebench", "run_evaluation", "-i", ONE, THREE, *CALL[2:])
    assert done.code == 0, done.err
    report = read(f"{MODEL}.r1.json")
    assert report["total_instances"] == 2
    assert (report["submitted_ids"], report["submitted_instances"]) == ([ONE, TWO, THREE], 3)
    assert not (LOGS / MODEL / TWO).exists()


def test_ids_without_a_prediction_are_incomplete(assay: Callable, predictions: Callable) -> None:
    predictions({ONE: GOLD})
    done = assay(*CALL, "--instance_ids", TWO)
    assert done.code == 0, done.err
    report = read(f"{MODEL}.r1.json")
    assert (report["incomplete_ids"], report["submitted_ids"]) == ([TWO], [ONE])


def test_gold_is_a_word(assay: Callable) -> None:
    done = assay("swebench", "run_evaluation", "-d", "rows.jsonl", "-p", "gold", "-id", "r1", "-i", ONE, TWO)
    assert done.code == 0, done.err
    assert read("gold.r1.json")["resolved_ids"] == [ONE, TWO]
    assert read("runs/gold.r1/run.json")["kind"] == "control"


def test_what_means_nothing_here_is_said_in_one_line(assay: Callable) -> None:
    flags = ("--cache_level", "none", "--clean=True", "--force_rebuild", "True", "--open_file_limit", "99")
    done = assay(
        *CALL, *flags, "-n", "none", "--namespace", "swebench", "--instance_image_tag", "latest", "--modal", "F"
    )
    assert done.code == 0, done.err
    said = [line for line in done.err.splitlines() if "ignored" in line]
    names = "--cache_level, --clean, --force_rebuild, --open_file_limit, -n, --namespace, --instance_image_tag, --modal"
    assert said == [f"assay: ignored, since they mean nothing here: {names}"]


@pytest.mark.parametrize(
    ("flag", "value"), [("--modal", "True"), ("--namespace", "mine"), ("--instance_image_tag", "v2"), ("--modal", "")]
)
def test_what_cannot_be_honoured_is_an_error(assay: Callable, flag: str, value: str) -> None:
    assay(*CALL, flag, value).refuses(flag, "cannot be honoured")


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (("-d", "rows.jsonl", "-p", "none.jsonl", "-id", "r1"), 1, "none.jsonl"),
        (("-d", "none.jsonl", "-p", "preds.jsonl", "-id", "r1"), 1, "no such data set"),
        (("-d", "rows.jsonl", "-p", "preds.jsonl", "-id", "r1", "-i", "acme__calc-9"), 1, "acme__calc-9"),
        (("-d", "rows.jsonl", "-p", "preds.jsonl", "-id", "../r1"), 1, "--run_id"),
        (("-d", "rows.jsonl", "-p", "preds.jsonl", "-id", ".."), 1, "'..'"),
        (("-d", "rows.jsonl", "-p", "preds.jsonl"), 2, "--run_id"),
        (("-d", "rows.jsonl", "-p", "preds.jsonl", "-id", "r1", "--rewrite_reports", "maybe"), 2, "rewrite_reports"),
    ],
)
def test_wrong_input_ends_as_with_swebench(assay: Callable, arguments: tuple[str, ...], code: int, word: str) -> None:
    done = assay("swebench", "run_evaluation", *arguments)
    assert (done.code, done.out) == (code, "")
    assert word in done.err
    assert not Path("logs").exists()


def test_a_prediction_of_no_row_is_an_error(assay: Callable, predictions: Callable) -> None:
    predictions({"acme__calc-9": GOLD})
    done = assay(*CALL)
    assert done.code == 1
    assert "acme__calc-9" in done.err


def test_what_could_not_be_tested_has_no_report_and_is_an_error(
    assay: Callable, predictions: Callable, lacking: Callable
) -> None:
    predictions({ONE: "no diff at all", TWO: GOLD, THREE: GOLD})
    done = assay(*CALL, ASSAY_ENGINE=lacking(THREE))
    assert done.code == 0, done.err
    report = read(f"{MODEL}.r1.json")
    assert (report["error_ids"], report["resolved_ids"]) == ([ONE, THREE], [TWO])
    assert report["infra_failure_ids"] == [THREE]
    for name in (ONE, THREE):
        assert list_files(LOGS / MODEL / name) == ["patch.diff", "run_instance.log"]


def test_the_same_command_resumes_and_rewriting_grades_the_evidence_again(assay: Callable) -> None:
    assert assay(*CALL).code == 0
    first = read(f"{MODEL}.r1.json")
    (LOGS / MODEL / ONE / "report.json").unlink()
    journal = Path(f"runs/{MODEL}.r1/journal.jsonl").read_text()
    again = assay(*CALL, "--rewrite_reports", "true")
    assert again.code == 0, again.err
    assert read(LOGS / MODEL / ONE / "report.json")[ONE]["resolved"] is True
    assert assay(*CALL).code == 0
    assert read(f"{MODEL}.r1.json") == first
    assert Path(f"runs/{MODEL}.r1/journal.jsonl").read_text().count("finished") == journal.count("finished")


def test_logs_of_another_program_are_neither_read_nor_replaced(assay: Callable) -> None:
    theirs = LOGS / MODEL / ONE / "test_output.txt"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("theirs")
    for more in ((), ("--rewrite_reports", "True")):
        done = assay(*CALL, *more)
        assert done.code == 1
        assert "assay report regrade logs/run_evaluation/r1" in done.err
    assert theirs.read_text() == "theirs"
    assert not Path(f"{MODEL}.r1.json").exists()


def test_the_script_also_prints_the_exit_status_of_the_tests() -> None:
    start, end = ": '>>>>> Start Test Output'", ": '>>>>> End Test Output'"
    script = "\n".join(["#!/bin/bash", "set -uxo pipefail", "cd /testbed", start, "pytest", end, ""])
    lines = make_script(script).splitlines()
    assert lines[:3] == ["#!/bin/bash", "set -uxo pipefail", "cd /testbed"]
    assert lines[4:6] == ["pytest", "SWEBENCH_TEST_EXIT_CODE=$?"]
    assert lines[-1] == 'echo ">>>>> Test Exit Code: $SWEBENCH_TEST_EXIT_CODE"'
    assert make_script("pytest").splitlines()[2:] == ["pytest"]


def test_the_module_is_the_command(in_folder: Path) -> None:
    command = [sys.executable, "-m", "assay.compat.swebench", *CALL[2:]]
    done = subprocess.run(command, env={**os.environ, "ASSAY_ENGINE": "fake"}, check=False, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    assert (in_folder / f"{MODEL}.r1.json").is_file()
