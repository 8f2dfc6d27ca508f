import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assay.harness.domain import Instance
from assay.harness.engines.fake import FakeBox
from assay.instances.dataset.load import load
from toy import FIXED, KEPT


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
    (task / "tests.json").write_text(json.dumps({"fail_to_pass": [FIXED], "pass_to_pass": [KEPT]}))
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


def test_lines_say_which_control_of_which_round(assay: Callable, rows: Path) -> None:
    lines = assay("dataset", "validate", "rows.jsonl", "-k", "2", "-j", "1").err.splitlines()
    said = [line for line in lines if "round" in line]
    assert said == [f"{which}, round {number} of 2" for number in (1, 2) for which in ("gold patches", "no patch")]
    assert lines[0] == said[0]


def test_the_record_tells_versions_images_and_every_status(assay: Callable, rows: Path) -> None:
    done = assay("dataset", "validate", "rows.jsonl", "-k", "2", "-i", "acme__calc-2", "--json")
    (record,) = json.loads(Path(done.json["stability"]).read_text())["instances"]
    assert record["instance_id"] == "acme__calc-2"
    assert record["engine"] == {"engine": "fake"}
    assert record["image_digests"] == ["sha256:fake/acme__calc-2:1"]
    assert record["assay_version"]
    assert record["tests"][FIXED] == {"gold": ["passed", "passed"], "null": ["failed", "failed"]}


def test_a_flaky_test_is_quarantined_and_left_out_of_a_verdict(assay: Callable, rows: Path, actor: Callable) -> None:
    # gold, null, gold, null ... of each instance: the second and third gold run see it fail
    engine = actor({KEPT: [True, True, False, True, False, True]})
    done = assay("dataset", "validate", "rows.jsonl", "-i", "acme__calc-1", "-j", "1", "--engine", engine)
    assert done.code == 4, done.err
    assert "after quarantine" in done.out
    assert f"acme__calc-1: unstable, quarantined: {KEPT}" in done.out

    engine = actor({KEPT: [False]})
    strict = assay("evaluate", "rows.jsonl", "--gold", "--engine", engine, "--run-id", "a", "--json").json
    assert strict["resolved_ids"] == []
    args = ("--stability", "runs/rows.validate/stability.json", "--json")
    done = assay("evaluate", "rows.jsonl", "--gold", "--engine", engine, "--run-id", "a", *args)
    assert (done.code, "runs/a was made with --stability unset" in done.err) == (2, True)
    done = assay("evaluate", "rows.jsonl", "--gold", "--engine", engine, "--run-id", "b", *args)
    assert done.json["resolved_ids"] == ["acme__calc-1"]
    assert done.json["flags"] == {"acme__calc-1": ["quarantined_tests_left_out"]}
    assert "1 quarantined" in done.json["reasons"]["acme__calc-1"]
    assert "1 test of 1 instance quarantined" in done.err


def test_a_folder_keeps_its_own_quarantine(assay: Callable, folder: Path, actor: Callable, tester: Callable) -> None:
    engine = tester("tests = {FIXED: fixed, KEPT: turn not in (2, 4)}")
    assert assay("dataset", "validate", "mine", "--write", "mine", "--engine", engine, "-j", "1").code == 0
    task = folder / "tasks/acme__calc-1"
    assert json.loads((task / "tests.json").read_text()) == {"fail_to_pass": [FIXED], "pass_to_pass": []}
    record = json.loads((task / "stability.json").read_text())
    assert (record["quarantined"], list(record["tests"])) == ([KEPT], [KEPT])

    (task / "tests.json").write_text(json.dumps({"fail_to_pass": [FIXED], "pass_to_pass": [KEPT]}))
    done = assay("evaluate", "mine", "--gold", "--engine", actor({KEPT: [False]}), "--json")
    assert (done.json["resolved_ids"], done.json["flags"]) == (
        ["acme__calc-1"],
        {"acme__calc-1": ["quarantined_tests_left_out"]},
    )


def test_validation_takes_no_notice_of_an_earlier_quarantine(assay: Callable, folder: Path) -> None:
    (folder / "tasks/acme__calc-1/stability.json").write_text(
        json.dumps({"instance_id": "acme__calc-1", "quarantined": [KEPT]})
    )
    (result,) = assay("dataset", "validate", "mine", "-k", "1", "--json").json["instances"]
    assert (result["pass_to_pass"], result["quarantined"]) == ([KEPT], [])


@pytest.mark.parametrize("text", ["{", '{"instance_id": "acme__calc-1", "quarantined": "all"}'])
def test_a_wrong_stability_file_is_one_line_and_exit_2(assay: Callable, folder: Path, text: str) -> None:
    path = folder / "tasks/acme__calc-1/stability.json"
    path.write_text(text)
    for args in (("mine",), ("mine", "--stability", str(path))):
        assay("evaluate", *args, "--gold").refuses("stability.json")


@pytest.fixture
def tester(in_folder: Path) -> Iterator[Callable[[str], str]]:
    """Write an engine whose tests do what a line of Python says, labels or not; return its name."""

    def write(line: str) -> str:
        (in_folder / "tester.py").write_text(
            "from assay.harness.engines.fake import FakeBox, FakeEngine\n"
            f"FIXED, KEPT = {FIXED!r}, {KEPT!r}\n"
            "def results(box):\n"
            "    fixed, turn = bool(box._files.get('model.patch', b'').strip()), box._turn\n"
            f"    {line}\n"
            "    return tests\n"
            "FakeBox._results = results\n"
            "ENGINE = FakeEngine({})\n"
            "def make(): return ENGINE\n"
        )
        return "tester:make"

    original = FakeBox._results
    yield write
    FakeBox._results = original  # type: ignore[method-assign]


@pytest.fixture
def unlabelled(rows: Path) -> Path:
    """Rows of which the first has no labels, the second blank ones, and the third wrong ones."""
    first, second, third = (json.loads(line) for line in rows.read_text().splitlines())
    del first["FAIL_TO_PASS"], first["PASS_TO_PASS"]
    second |= {"FAIL_TO_PASS": "", "PASS_TO_PASS": None}
    third |= {"FAIL_TO_PASS": [KEPT], "PASS_TO_PASS": ["tests/test_gone.py::test_gone"]}
    rows.write_text("".join(json.dumps(row) + "\n" for row in (first, second, third)))
    return rows


def test_measured_labels_make_rows_that_can_be_evaluated(
    assay: Callable, unlabelled: Path, tester: Callable, instance: Instance
) -> None:
    engine = tester("tests = {FIXED: fixed, KEPT: True, 'tests/test_calc.py::test_odd': turn % 3 == 0}")
    done = assay("dataset", "validate", "rows.jsonl", "--write", "out", "--engine", engine, "-j", "1")
    assert done.code == 0, done.err
    assert "3 of 3 instances with measured labels: out" in done.out
    assert "acme__calc-3: labelled fail to pass, is passed to passed: tests/test_calc.py::test_same" in done.out
    assert "acme__calc-3: labelled pass to pass, is missing to missing: tests/test_gone.py::test_gone" in done.out
    assert "acme__calc-3: not labelled, is fail to pass: tests/test_calc.py::test_add" in done.out
    assert "acme__calc-1: labelled" not in done.out
    loaded = load("out").instances
    assert [(each.fail_to_pass, each.pass_to_pass) for each in loaded] == [((FIXED,), (KEPT,))] * 3
    kept = loaded[0].model_copy(update={"dataset": instance.dataset, "log_format": ""})
    assert kept == instance.model_copy(update={"hints": kept.hints, "version": kept.version})
    again = assay("dataset", "validate", "rows.jsonl", "--write", "out", "--engine", engine, "--json")
    assert again.err.count("known already") == 18
    assert again.json["not_written"] == {}
    done = assay("evaluate", "out", "--gold", "--engine", engine)
    assert "3 of 3 resolved" in done.out


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("tests = {FIXED: True, KEPT: True}", "no test fails without the gold patch and passes with it, in every run"),
        ("tests = {FIXED: fixed and turn > 0, KEPT: True}", "no test fails without the gold patch and passes with it"),
        ("tests = {}", "its gold patch is env_error: nothing passes here"),
    ],
)
def test_an_instance_without_usable_labels_is_not_written(
    assay: Callable, unlabelled: Path, tester: Callable, line: str, problem: str
) -> None:
    args = ("dataset", "validate", "rows.jsonl", "-i", "acme__calc-1", "--write", "out", "-j", "1")
    done = assay(*args, "--engine", tester(line))
    assert done.code == 4
    assert f"acme__calc-1: not written, {problem}" in done.out
    assert "0 of 1 instance with measured labels: out" in done.out
    assert not Path("out/tasks").exists()


def test_rows_without_labels_are_refused_where_labels_count(assay: Callable, unlabelled: Path) -> None:
    done = assay("evaluate", "rows.jsonl", "--gold")
    words = "FAIL_TO_PASS: is missing; write a list of test names, or measure them: assay dataset validate"
    assert (done.code, words in done.err) == (2, True)


def test_a_folder_that_holds_something_else_is_refused_before_anything_runs(assay: Callable, unlabelled: Path) -> None:
    Path("full").mkdir()
    Path("full/notes.txt").write_text("mine")
    Path("other").mkdir()
    Path("other/assay.yaml").write_text("name: other\n")
    for name, held in (("full", "something else"), ("other", "the data set other"), ("rows.jsonl", "something else")):
        done = assay("dataset", "validate", "rows.jsonl", "--write", name)
        assert done.code == 2
        assert done.err == f"assay: {name} holds {held}; name a folder that does not exist yet\n"
    assert not Path("runs").exists()
