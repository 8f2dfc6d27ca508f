import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from toy import GOLD, KEPT, TESTS

pytestmark = pytest.mark.slow


def test_gold_resolves_and_null_does_not(assay: Callable, rows: Path) -> None:
    gold = assay("evaluate", "rows.jsonl", "--gold")
    assert gold.code == 0, gold.err
    assert "3 of 3 resolved · runs/rows.gold" in gold.out
    null = assay("evaluate", "rows.jsonl", "--null", "--json")
    assert null.code == 0
    assert null.json["unresolved_ids"] == ["acme__calc-1", "acme__calc-2", "acme__calc-3"]


def test_the_report_has_the_fields_that_existing_scripts_read(
    assay: Callable, rows: Path, predictions: Callable
) -> None:
    predictions({"acme__calc-1": GOLD, "acme__calc-2": "", "acme__calc-3": "no diff at all"})
    done = assay("evaluate", "rows.jsonl", "-p", "preds.jsonl", "--run-id", "mine", "--json")
    assert done.code == 0
    report = done.json
    assert report["schema_version"] == 2
    assert (report["total_instances"], report["submitted_instances"], report["resolved_instances"]) == (3, 3, 1)
    assert report["resolved_ids"] == ["acme__calc-1"]
    assert report["empty_patch_ids"] == ["acme__calc-2"]
    assert report["error_ids"] == ["acme__calc-3"]
    assert report["outcomes"]["acme__calc-3"] == "patch_rejected"
    assert json.loads(Path("runs/mine/report.json").read_text()) == report
    assert report["model"] == "acme/model"


def test_patches_of_tests_are_judged_by_a_rule_of_their_own(assay: Callable, rows: Path, predictions: Callable) -> None:
    predictions({"acme__calc-1": TESTS, "acme__calc-2": GOLD, "acme__calc-3": "no diff"})
    call = ("evaluate", "rows.jsonl", "-p", "preds.jsonl", "--rule", "swt-bench")
    report = assay(*call, "--json").json
    assert report["outcomes"] == {
        "acme__calc-1": "resolved",
        "acme__calc-2": "empty_patch",
        "acme__calc-3": "patch_rejected",
    }
    assert report["rules"] == ["swt-bench"]
    assert report["reasons"]["acme__calc-2"] == "the patch changes no file of the tests"
    again = assay(*call)
    assert "swt-bench" in again.out
    assert "1 of 3 resolved" in again.out
    assert assay("report", "regrade", "rows.acme_model.swt-bench").code == 0
    (run,) = (path for path in Path("runs").iterdir() if path.name.endswith("swt-bench"))
    assay("report", "export", run.name, "--format", "swebench", "-o", "out").refuses("its patches are tests")
    assay(*call[:-2], "--run-id", run.name).refuses("was made with --rule swt-bench, not unset")


@pytest.mark.parametrize("dialect", ["swe-fficiency", "swe-perf", "gso"])
def test_speed_ups_are_measured_beside_the_verdict(assay: Callable, in_folder: Path, dialect: str) -> None:
    rows = Path(__file__).parents[2] / f"data/formats/{dialect}.jsonl"
    Path("faster.jsonl").write_text(rows.read_text())
    gold = assay("evaluate", "faster.jsonl", "--gold", "--json")
    assert gold.json["resolved_instances"] == 3
    assert gold.json["mean_measures"]["speed_up"] == 2
    null = assay("evaluate", "faster.jsonl", "--null", "--json")
    assert null.json["outcome_counts"] == {"unresolved": 3}
    assert "shows no speed-up" in null.json["reasons"]["acme__calc-1"]


def test_gold_tests_resolve_and_none_do_not(assay: Callable, rows: Path) -> None:
    gold = assay("evaluate", "rows.jsonl", "--gold", "--rule", "swt-bench", "--json")
    assert gold.json["resolved_instances"] == 3
    null = assay("evaluate", "rows.jsonl", "--null", "--rule", "swt-bench", "--json")
    assert null.json["outcome_counts"] == {"empty_patch": 3}
    assay("evaluate", "rows.jsonl", "--gold", "--rule", "swt-bench", "--fail-fast").refuses("judges tests, not fixes")


def test_other_labels_are_a_run_and_a_data_set_of_their_own(assay: Callable, rows: Path, predictions: Callable) -> None:
    labels = {"instance_id": "acme__calc-2", "FAIL_TO_PASS": ["tests/test_calc.py::test_new"], "PASS_TO_PASS": []}
    Path("abs.jsonl").write_text(json.dumps(labels) + "\n")
    predictions({"acme__calc-2": "no diff at all"})
    call = ("evaluate", "rows.jsonl", "-p", "preds.jsonl", "--labels", "abs.jsonl")
    done = assay(*call, "--json")
    assert "1 instance of 3 with the labels of abs.jsonl" in done.err
    assert done.json["dataset"] == "rows with labels abs.jsonl"
    (run,) = [path.name for path in Path("runs").iterdir() if path.name.endswith(".abs")]
    assay("report", "export", run, "--format", "swebench", "-o", "out").refuses(
        "exported to no leaderboard: its patches were graded by other labels"
    )
    assay(*call[:-2], "--run-id", run).refuses("runs/")


def test_a_lone_surrogate_rejects_one_patch_and_stops_no_run(assay: Callable, rows: Path) -> None:
    patches = {"acme__calc-1": GOLD, "acme__calc-2": "x\ud800y"}
    lines = (json.dumps({"instance_id": name, "model_patch": patch}) for name, patch in patches.items())
    Path("preds.jsonl").write_text("\n".join(lines))
    done = assay("evaluate", "rows.jsonl", "-p", "preds.jsonl", "--run-id", "mine", "--json")
    assert done.code == 0, done.err
    assert done.json["outcomes"] == {"acme__calc-1": "resolved", "acme__calc-2": "patch_rejected"}
    again = assay("evaluate", "rows.jsonl", "-p", "runs/mine", "--run-id", "again", "--json")
    assert again.json["outcomes"] == done.json["outcomes"]


def test_the_evidence_is_where_the_documents_say_and_the_manifest_says_how_it_was_made(
    assay: Callable, rows: Path
) -> None:
    assay("evaluate", "rows.jsonl", "--gold", "-i", "acme__calc-2", "--run-id", "r", "--strict")
    folder = Path("runs/r")
    assert {path.name for path in folder.iterdir()} == {
        "run.json", "journal.jsonl", "predictions.jsonl", "verdicts.jsonl", "report.json",
        "efficiency.json", "finished.json", "lock", "instances",
    }  # fmt: skip
    assert {path.name for path in (folder / "instances/acme__calc-2").iterdir()} == {
        "instance.json", "patch.diff", "evidence.json", "verdict.json", "test_output.txt", "reports",
    }  # fmt: skip
    manifest = json.loads((folder / "run.json").read_text())
    assert (manifest["environments"], manifest["settings"]["strict"]) == ({"acme__calc-2": "defaults"}, "yes")
    saved = json.loads((folder / "instances/acme__calc-2/verdict.json").read_text())
    assert saved["verdict"]["environment"] == "defaults"


def test_table_has_a_column_of_flags_if_there_are_any(assay: Callable, rows: Path, predictions: Callable) -> None:
    assert "flags" not in assay("evaluate", "rows.jsonl", "--gold").out
    head = "diff --git a/conftest.py b/conftest.py\nnew file mode 100644\n--- /dev/null\n+++ b/conftest.py\n"
    conftest = f"{head}@@ -0,0 +1 @@\n+x = 1\n"
    predictions({"acme__calc-1": GOLD + conftest})
    done = assay("evaluate", "rows.jsonl", "-p", "preds.jsonl", "-i", "acme__calc-1")
    assert "flags" in done.out
    assert "runner_configuration_put_back" in done.out
    assert "runner_configuration_put_back" in assay("report", "show", Path(done.out.split("· ")[-1].strip()).name).out


def test_running_again_does_only_what_is_missing(assay: Callable, rows: Path) -> None:
    assay("evaluate", "rows.jsonl", "--gold", "-i", "acme__calc-1")
    done = assay("evaluate", "rows.jsonl", "--gold")
    assert done.err.count("known already") == 1
    assert "3 of 3 resolved" in done.out


@pytest.mark.parametrize(("threshold", "code"), [("33", 0), ("34", 5)])
def test_a_threshold_sets_the_exit_code(
    assay: Callable, rows: Path, predictions: Callable, threshold: str, code: int
) -> None:
    predictions({"acme__calc-1": GOLD, "acme__calc-2": "", "acme__calc-3": ""})
    assert assay("evaluate", "rows.jsonl", "-p", "preds.jsonl", "--fail-under", threshold).code == code


def test_ids_are_compared_without_case(assay: Callable, rows: Path, predictions: Callable) -> None:
    predictions({"ACME__calc-1": GOLD})
    done = assay("evaluate", "rows.jsonl", "-p", "preds.jsonl", "-i", "Acme__Calc-1")
    assert "1 of 1 resolved" in done.out


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ((), ["exactly one of"]),
        (("--gold", "--null"), ["exactly one of"]),
        (("-p", "none.jsonl"), ["none.jsonl"]),
        (("--gold", "--run-id", "../x"), ["--run-id"]),
        (("--gold", "-g", "suites"), ["--generators", "--patchdiff"]),
        (("--gold", "--operators", "pair"), ["--operators", "--patchdiff"]),
        (("--gold", "--patchdiff", "--operators", "magic"), ["unknown operator 'magic'", "gold_branch"]),
    ],
)
def test_wrong_calls_give_one_line_and_exit_2(
    assay: Callable, rows: Path, args: tuple[str, ...], words: list[str]
) -> None:
    assay("evaluate", "rows.jsonl", *args).refuses(*words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", ["preds.jsonl:1"]),
        ('{"instance_id": "acme__calc-1"}', ["preds.jsonl", "model_patch"]),
        ('{"instance_id": "a/../b", "model_patch": ""}', ["a/../b"]),
        ('{"instance_id": "acme__calc-1", "model_patch": ""}\n' * 2, ["acme__calc-1", "1", "2"]),
        ('{"instance_id": "other__repo-7", "model_patch": ""}', ["other__repo-7", "the data set lacks"]),
    ],
)
def test_wrong_predictions_give_one_line_and_exit_2(assay: Callable, rows: Path, text: str, words: list[str]) -> None:
    Path("preds.jsonl").write_text(text)
    assay("evaluate", "rows.jsonl", "-p", "preds.jsonl").refuses(*words)
    assert not Path("runs").exists()


def test_a_wrong_row_names_its_place_and_may_be_skipped(assay: Callable, rows: Path) -> None:
    lines = rows.read_text().splitlines()
    broken = {key: value for key, value in json.loads(lines[1]).items() if key != "patch"}
    rows.write_text("\n".join([lines[0], json.dumps(broken), lines[2]]))
    done = assay("evaluate", "rows.jsonl", "--gold")
    assert done.code == 2
    assert all(word in done.err for word in ("rows.jsonl:2", "acme__calc-2", "patch"))
    done = assay("evaluate", "rows.jsonl", "--gold", "--skip-bad-rows")
    assert done.code == 0
    assert "2 of 2 resolved" in done.out
    assert "rows.jsonl:2" in done.err


def test_what_passes_on_a_rerun_is_flaky_and_stays_unresolved(assay: Callable, rows: Path, actor: Callable) -> None:
    args = ("evaluate", "rows.jsonl", "--gold", "-j", "1", "--engine", actor({KEPT: [False, False, True]}))
    done = assay(*args, "--rerun-failed", "1")
    assert "flaky" not in done.out
    done = assay(*args, "--rerun-failed", "2", "--fail-under", "1")  # box 0 of this process is the second repetition
    assert "flaky" not in done.out
    done = assay(*args, "--rerun-failed", "5", "--fail-under", "1")
    assert done.code == 5
    assert "0 of 3 resolved, 3 unresolved (3 flaky)" in done.out
    assert f"acme__calc-1: flaky, passes when run again: {KEPT}" in done.out
    report = json.loads(Path("runs/rows.gold/report.json").read_text())
    assert report["flaky_ids"] == report["unresolved_ids"] == ["acme__calc-1", "acme__calc-2", "acme__calc-3"]
    assert Path("runs/rows.gold/instances/acme__calc-1/reruns/5/evidence.json").is_file()
    assert "(3 flaky)" in assay("report", "show", "rows.gold").out


def test_controls_name_what_is_unfit_and_leave_it_out_of_a_second_rate(
    assay: Callable, rows: Path, predictions: Callable, actor: Callable
) -> None:
    row = json.loads(rows.read_text().splitlines()[0])
    for number, test in ((4, "tests/broken.py::test"), (5, "tests/too_good.py::test")):
        with rows.open("a") as file:
            file.write(json.dumps({**row, "instance_id": f"acme__calc-{number}", "FAIL_TO_PASS": [test]}) + "\n")
    predictions({f"acme__calc-{number}": GOLD if number == 1 else "" for number in (1, 2, 4, 5)})
    engine = actor({"tests/broken.py::test": [False], "tests/too_good.py::test": [True]})
    args = ("evaluate", "rows.jsonl", "-p", "preds.jsonl", "--run-id", "mine", "--engine", engine)
    done = assay(*args, "--controls")
    assert done.code == 0, done.err
    assert "1 of 4 resolved, 3 empty_patch; operational: 1 of 2 (2 unfit left out)" in done.out
    report = json.loads(Path("runs/mine/report.json").read_text())
    assert report["unfit_reasons"] == {
        "acme__calc-4": "its gold patch is unresolved: 1 of 1 unfixed, 0 of 1 broken",
        "acme__calc-5": "no patch at all is resolved",
    }
    assert (report["resolved_rate"], report["operational_rate"]) == (0.25, 0.5)
    assert {path.name for path in Path("runs").glob("mine*")} == {"mine", "mine.control-gold", "mine.control-null"}
    assert assay("report", "regrade", "mine", "--json").json == report

    again = assay(*args, "--controls", "--run-id", "other")
    assert again.err.count("known already") == 3 * 4


def test_what_a_dead_process_left_behind_is_removed_and_named(assay: Callable, rows: Path) -> None:
    Path("reaping.py").write_text(
        "from assay.harness.engines.fake import FakeEngine\n"
        "class Reaping(FakeEngine):\n"
        "    def reap(self, **_): return ['0123456789ab']\n"
        "def make(): return Reaping({})\n"
    )
    result = assay("evaluate", "rows.jsonl", "--gold", "--engine", "reaping:make").err
    assert "removed 0123456789ab, left behind by a dead process" in result


def test_no_engine_is_one_line_and_exit_2(assay_process: Callable, rows: Path) -> None:
    done = assay_process("evaluate", "rows.jsonl", "--gold", DOCKER_HOST="unix:///nonexistent.sock")
    done.refuses("DOCKER_HOST; assay doctor says")
    assert re.search(r"no container engine answers at \S+ \([a-z ]+\); start Docker", done.err)


def test_ctrl_c_keeps_what_is_finished(in_folder: Path, rows: Path) -> None:
    command = [sys.executable, "-m", "assay", "evaluate", "rows.jsonl", "--gold", "-j", "1", "--engine"]
    variables = {**os.environ, "ASSAY_FAKE_SECONDS": "2"}
    process = subprocess.Popen([*command, "fake"], env=variables, stderr=subprocess.PIPE, text=True)
    first = Path("runs/rows.gold/instances")
    while not list(first.glob("*/verdict.json")):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, result = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in result.strip().splitlines()[-1]
    done = subprocess.run([*command, "fake"], capture_output=True, text=True, check=True)
    assert "3 of 3 resolved" in done.stdout
    assert "known already" in done.stderr


def test_500_rows_stay_under_90_mib(in_folder: Path, rows: Path) -> None:
    row = json.loads(rows.read_text().splitlines()[0])
    filler = {"problem_statement": "words " * 700, "PASS_TO_PASS": [f"tests/t.py::test_{n}" for n in range(80)]}
    many = [{**row, **filler, "instance_id": f"acme__calc-{number}"} for number in range(500)]
    rows.write_text("".join(json.dumps(each) + "\n" for each in many))
    program = (
        "import re, sys; from assay.cli.main import main\n"
        "try: main()\n"
        "finally: print(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1], file=sys.stderr)"
    )
    command = [sys.executable, "-c", program, "evaluate", "rows.jsonl", "--gold", "--engine", "fake", "-j", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "500 of 500 resolved" in done.stdout
    assert int(done.stderr.splitlines()[-1]) < 90 * 1024


@pytest.mark.docker
def test_a_language_that_is_not_supported_is_an_outcome_and_stops_nobody(assay: Callable, rows: Path) -> None:
    first, *others = (json.loads(line) for line in rows.read_text().splitlines())
    rows.write_text("\n".join(json.dumps(row) for row in [{**first, "language": "cobol"}, *others]))
    done = assay("evaluate", "rows.jsonl", "--gold", "--engine", "docker", "-i", first["instance_id"], "--json")
    assert done.code == 3
    assert done.json["outcomes"] == {first["instance_id"]: "env_error"}
    shown = assay("report", "show", "rows.gold")
    assert "unknown language" in shown.out
    assert "cobol" in shown.out


def test_predictions_of_other_instances_are_left_out_where_asked(assay: Callable, rows: Path) -> None:
    line = '{"instance_id": "%s", "model_patch": "", "model_name_or_path": "m"}\n'
    Path("all.jsonl").write_text(line % "acme__calc-1" + line % "x__y-2")
    assay("evaluate", "rows.jsonl", "-p", "all.jsonl").refuses("such as x__y-2", "--skip-others")
    done = assay("evaluate", "rows.jsonl", "-p", "all.jsonl", "--skip-others", "--json")
    assert (done.code, done.json["submitted_instances"]) == (0, 1)


def test_a_run_ends_with_what_to_type_next(assay: Callable, rows: Path) -> None:
    done = assay("evaluate", "rows.jsonl", "--null", "--run-id", "none")
    assert "assay report show runs/none -i acme__calc-1" in done.err
    assert "assay view runs/none" in done.err
