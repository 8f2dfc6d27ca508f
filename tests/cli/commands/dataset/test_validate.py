"""``assay dataset validate`` as a person calls it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.harness.domain import Instance

ADD, SAME = "tests/test_calc.py::test_add", "tests/test_calc.py::test_same"


@pytest.fixture
def folder(in_folder: Path, instance: Instance) -> Path:
    """A native data set of one task."""
    task = in_folder / "mine/tasks" / instance.id
    task.mkdir(parents=True)
    (in_folder / "mine/assay.yaml").write_text("name: mine\n")
    (task / "task.yaml").write_text(
        f"repo: {instance.repo}\nbase_commit: '{instance.base_commit}'\ncreated_at: 2023-01-02\n"
    )
    (task / "problem.md").write_text(instance.problem_statement)
    (task / "gold.patch").write_text(instance.gold_patch)
    (task / "test.patch").write_text(instance.test_patch)
    (task / "tests.json").write_text(json.dumps({"fail_to_pass": [ADD], "pass_to_pass": [SAME]}))
    return in_folder / "mine"


def test_both_controls_run_three_times_and_only_what_is_missing_again(assay: Callable, rows: Path) -> None:
    done = assay("dataset", "validate", "rows.jsonl", "--json")
    assert done.code == 0, done.err
    assert [(each["valid"], each["gold"], each["null"]) for each in done.json["instances"]] == [
        (True, ["resolved"] * 3, ["unresolved"] * 3)
    ] * 3
    runs = {path.name for path in Path("runs").iterdir() if path.name != ".index"}
    each = {f"rows.validate-{model}-{number}" for model in ("gold", "null") for number in (1, 2, 3)}
    assert runs == {"rows.validate", *each}
    assert done.err.count("known already") == 0
    again = assay("dataset", "validate", "rows.jsonl", "-k", "4")
    assert again.err.count("known already") == 6 * 3
    assert Path("runs/rows.validate-null-4").is_dir()


def test_the_record_tells_versions_images_and_every_status(assay: Callable, rows: Path) -> None:
    done = assay("dataset", "validate", "rows.jsonl", "-k", "2", "-i", "acme__calc-2", "--json")
    (record,) = json.loads(Path(done.json["stability"]).read_text())["instances"]
    assert record["instance_id"] == "acme__calc-2"
    assert record["engine"] == {"engine": "fake"}
    assert record["image_digests"] == ["sha256:fake/acme__calc-2:1"]
    assert record["assay_version"]
    assert record["tests"][ADD] == {"gold": ["passed", "passed"], "null": ["failed", "failed"]}


def test_a_flaky_test_is_quarantined_and_left_out_of_a_verdict(assay: Callable, rows: Path, actor: Callable) -> None:
    # gold, null, gold, null ... of each instance: the second and third gold run see it fail
    engine = actor({SAME: [True, True, False, True, False, True]})
    done = assay("dataset", "validate", "rows.jsonl", "-i", "acme__calc-1", "-j", "1", "--engine", engine)
    assert done.code == 4, done.err
    assert "after quarantine" in done.out
    assert f"acme__calc-1: unstable, quarantined: {SAME}" in done.out

    engine = actor({SAME: [False]})
    strict = assay("evaluate", "rows.jsonl", "--gold", "--engine", engine, "--run-id", "a", "--json").json
    assert strict["resolved_ids"] == []
    args = ("--stability", "runs/rows.validate/stability.json", "--json")
    done = assay("evaluate", "rows.jsonl", "--gold", "--engine", engine, "--run-id", "a", *args)
    assert done.json["resolved_ids"] == ["acme__calc-1"]
    assert done.json["flags"] == {"acme__calc-1": ["quarantined_tests_left_out"]}
    assert "1 quarantined" in done.json["reasons"]["acme__calc-1"]
    assert "1 tests of 1 instances are quarantined" in done.err


def test_a_folder_keeps_its_own_quarantine(assay: Callable, folder: Path, actor: Callable) -> None:
    engine = actor({SAME: [True, True, False, True, False, True]})
    assert assay("dataset", "validate", "mine", "--write", "--engine", engine).code == 0
    task = folder / "tasks/acme__calc-1"
    assert json.loads((task / "tests.json").read_text()) == {"fail_to_pass": [ADD], "pass_to_pass": []}
    record = json.loads((task / "stability.json").read_text())
    assert (record["quarantined"], list(record["tests"])) == ([SAME], [SAME])

    (task / "tests.json").write_text(json.dumps({"fail_to_pass": [ADD], "pass_to_pass": [SAME]}))
    done = assay("evaluate", "mine", "--gold", "--engine", actor({SAME: [False]}), "--json")
    assert (done.json["resolved_ids"], done.json["flags"]) == (
        ["acme__calc-1"],
        {"acme__calc-1": ["quarantined_tests_left_out"]},
    )


def test_validation_takes_no_notice_of_an_earlier_quarantine(assay: Callable, folder: Path) -> None:
    (folder / "tasks/acme__calc-1/stability.json").write_text(
        json.dumps({"instance_id": "acme__calc-1", "quarantined": [SAME]})
    )
    (result,) = assay("dataset", "validate", "mine", "-k", "1", "--json").json["instances"]
    assert (result["pass_to_pass"], result["quarantined"]) == ([SAME], [])


@pytest.mark.parametrize("text", ["{", '{"instance_id": "acme__calc-1", "quarantined": "all"}'])
def test_a_wrong_stability_file_is_one_line_and_exit_2(assay: Callable, folder: Path, text: str) -> None:
    path = folder / "tasks/acme__calc-1/stability.json"
    path.write_text(text)
    for args in (("mine",), ("mine", "--stability", str(path))):
        done = assay("evaluate", *args, "--gold")
        assert done.code == 2
        assert len(done.err.strip().splitlines()) == 1
        assert "stability.json" in done.err


def test_labels_go_into_folders_only(assay: Callable, rows: Path) -> None:
    done = assay("dataset", "validate", "rows.jsonl", "--write")
    assert (done.code, "native folder" in done.err) == (2, True)
    assert not Path("runs").exists()
