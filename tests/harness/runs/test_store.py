from pathlib import Path
from types import SimpleNamespace

import pytest

from assay.harness.domain import (
    Apply,
    ApplyStatus,
    DatasetRef,
    Evidence,
    GeneratorResult,
    Instance,
    Outcome,
    PatchDiffFinding,
    PatchDiffResult,
    Prediction,
    TestPlan,
    Verdict,
)
from assay.harness.errors import UserError
from assay.harness.evaluation.evaluate import Evaluation, Task
from assay.harness.grading.stability import StabilityFile
from assay.harness.runs import evaluations
from assay.harness.runs import journal as journal_module
from assay.harness.runs import store as store_module
from assay.harness.runs.keys import content_key
from assay.harness.runs.manifest import Run
from assay.harness.runs.report import build_report
from assay.harness.runs.saved import SavedPatchDiff, SavedVerdict
from assay.harness.runs.store import RunStore

PLAN = TestPlan(command="true")
RUN = Run(id="r", dataset=DatasetRef(name="d"), model="m", started="now", assay_version="1")


def task(instance: Instance, patch: str = "x") -> Task:
    return Task(instance, Prediction(instance_id=instance.id, patch=patch), PLAN)


def evaluation(instance: Instance) -> Evaluation:
    evidence = Evidence(instance_id=instance.id, apply=Apply(status=ApplyStatus.APPLIED), exit_code=1)
    return Evaluation(evidence, "x\n", b"\xff output", {"../report.xml": b"<a/>"})


def save(store: RunStore, instance: Instance, key: str = "k") -> None:
    verdict = Verdict(instance_id=instance.id, outcome=Outcome.UNRESOLVED)
    store.save(task(instance), evaluation(instance), verdict, key)


def test_what_is_saved_is_read_back(instance: Instance, tmp_path: Path) -> None:
    store = RunStore(tmp_path / "run")
    save(store, instance)
    assert store.load_evidence(instance.id) == evaluation(instance).evidence
    assert store.load_instance(instance.id) == instance
    saved = store.load_verdict(instance.id)
    assert saved is not None
    assert (saved.key, saved.verdict.outcome) == ("k", Outcome.UNRESOLVED)
    assert (tmp_path / "run/instances/acme__calc-1/test_output.txt").read_bytes() == b"\xff output"
    assert (tmp_path / "run/instances/acme__calc-1/reports/report.xml").is_file()
    assert not list(tmp_path.glob("run/instances/acme__calc-1/report.xml")), "report files stay in their folder"


@pytest.mark.parametrize("content", ["", "{", '{"key": "k"}', "null"])
def test_a_torn_verdict_counts_as_none(instance: Instance, tmp_path: Path, content: str) -> None:
    store = RunStore(tmp_path / "run")
    save(store, instance)
    (tmp_path / "run/instances/acme__calc-1/verdict.json").write_text(content)
    assert store.load_verdict(instance.id) is None
    assert store.find(instance.id, "k") is None


def test_no_temporary_file_or_folder_is_left(instance: Instance, tmp_path: Path) -> None:
    store = RunStore(tmp_path / "run")
    save(store, instance)
    save(store, instance, "another")
    assert [path.name for path in tmp_path.rglob(".*")] == [".index"]


def test_an_evaluation_that_cannot_be_written_leaves_the_earlier_one(
    instance: Instance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = RunStore(tmp_path / "run")
    save(store, instance)

    def full(path: Path, _content: bytes) -> None:
        path.write_bytes(b"")
        raise OSError("no space left on device")

    monkeypatch.setattr(evaluations, "write_file", full)
    with pytest.raises(OSError, match="no space"):
        save(store, instance, "another")
    assert store.find(instance.id, "k") is not None
    assert [path.name for path in tmp_path.rglob(".*")] == [".index"]


def test_an_evaluation_is_on_the_disk_before_it_takes_its_name(
    instance: Instance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run/instances" / instance.id
    synced: list[tuple[bool, str]] = []

    def record(path: Path) -> None:
        synced.append((folder.exists(), path.name if path.name in ("reports", "instances") else "folder"))

    monkeypatch.setattr(evaluations, "sync_folder", record)
    save(RunStore(tmp_path / "run"), instance)
    assert synced == [(False, "reports"), (False, "folder"), (True, "instances")]


def test_report_files_beyond_the_limit_are_not_kept(
    instance: Instance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "REPORT_FILES", 2)
    many = Evaluation(evaluation(instance).evidence, report_files=dict.fromkeys("cab", b""))
    verdict = Verdict(instance_id=instance.id, outcome=Outcome.UNRESOLVED)
    RunStore(tmp_path / "run").save(task(instance), many, verdict, "k")
    kept = tmp_path / "run/instances/acme__calc-1/reports"
    assert sorted(path.name for path in kept.iterdir()) == ["a", "b"]


def test_a_verdict_of_an_earlier_version_took_no_known_time(instance: Instance, tmp_path: Path) -> None:
    store = RunStore(tmp_path / "run")
    saved = SavedVerdict(key="k", seconds=3.0, verdict=Verdict(instance_id=instance.id, outcome=Outcome.RESOLVED))
    store.save_verdict(saved)
    path = tmp_path / "run/instances/acme__calc-1/verdict.json"
    path.write_text(saved.model_dump_json(exclude={"seconds"}))
    assert store.load_verdict(instance.id) == saved.model_copy(update={"seconds": 0.0})


def test_a_verdict_from_a_run_beside_is_taken_over_whole(instance: Instance, tmp_path: Path) -> None:
    save(RunStore(tmp_path / "one"), instance)
    other = RunStore(tmp_path / "other")
    assert other.find(instance.id, "k") is not None
    assert other.load_evidence(instance.id) == evaluation(instance).evidence


def test_a_verdict_that_a_run_beside_has_replaced_since_is_not_taken_over(instance: Instance, tmp_path: Path) -> None:
    one, other = RunStore(tmp_path / "one"), RunStore(tmp_path / "other")
    save(one, instance, "old")
    save(one, instance, "new")
    assert other.find(instance.id, "old") is None
    assert other.load_verdict(instance.id) is None


def test_a_store_that_is_alone_neither_gives_nor_takes_verdicts(instance: Instance, tmp_path: Path) -> None:
    save(RunStore(tmp_path / "shared"), instance, "shared")
    save(RunStore(tmp_path / "alone", alone=True), instance, "own")
    assert RunStore(tmp_path / "other", alone=True).find(instance.id, "shared") is None
    assert RunStore(tmp_path / "other").find(instance.id, "own") is None
    assert RunStore(tmp_path / "alone", alone=True).find(instance.id, "own") is not None


def test_what_a_killed_process_had_begun_to_write_goes_with_the_next_run(instance: Instance, tmp_path: Path) -> None:
    store = RunStore(tmp_path / "run")
    save(store, instance)
    save(store.rerun(1), instance)
    begun = [".a.new", "instances/.b.new", "instances/acme__calc-1/.c.new", "instances/acme__calc-1/reruns/.d.new"]
    for name in begun:
        (store.root / name).mkdir()
        (store.root / name / "half").write_text("{")
        (store.root / f"{name}.file").write_text("{")
    kept = {path for path in store.root.rglob("*") if ".new" not in str(path)}
    with store.lock():
        pass
    assert set(store.root.rglob("*")) == kept | {store.root / "lock"}


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    first, second = RunStore(tmp_path / "run"), RunStore(tmp_path / "run")
    with first.lock(), pytest.raises(UserError, match="another process"), second.lock():
        pytest.fail("two processes hold one run")


def test_a_folder_is_made_where_there_is_none_yet(tmp_path: Path) -> None:
    with RunStore(tmp_path / "runs/today/run").lock():
        assert (tmp_path / "runs/today/run/lock").is_file()


@pytest.mark.parametrize("torn", [b'{"event": "star', b"\xff\xfe", b"7", b"[]"])
def test_a_torn_line_of_the_journal_is_passed_over(tmp_path: Path, torn: bytes) -> None:
    store = RunStore(tmp_path)
    assert store.events() == [], "there is no journal yet"
    store.journal("planned")
    with (tmp_path / "journal.jsonl").open("ab") as journal:
        journal.write(torn)
    store.journal("started", "a")
    assert [event["event"] for event in store.events()] == ["planned", "started"]


def test_the_journal_says_the_time_in_milliseconds_and_which_repetition_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "time", SimpleNamespace(time=lambda: 1.23456))
    store = RunStore(tmp_path)
    store.journal("started", "a")
    store.rerun(2).journal("started", "a", why="unresolved")
    plain = {"time": 1.235, "event": "started", "instance": "a"}
    assert store.events() == [plain, {**plain, "rerun": "2", "why": "unresolved"}]


def test_the_key_depends_on_everything_a_verdict_depends_on(instance: Instance) -> None:
    base = task(instance)
    others = [
        task(instance, "y"),
        task(instance.model_copy(update={"fail_to_pass": ("other",)})),
        Task(instance, base.prediction, PLAN.model_copy(update={"command": "false"})),
        Task(instance, base.prediction, PLAN, runs_empty=True),
    ]
    keys = {content_key(each) for each in [base, *others]}
    assert len(keys) == 5


def test_the_key_does_not_depend_on_who_proposed_the_patch(instance: Instance) -> None:
    by_a, by_b = (Prediction(instance_id=instance.id, model=model, patch="x") for model in "ab")
    assert content_key(Task(instance, by_a, PLAN)) == content_key(Task(instance, by_b, PLAN))


def test_a_run_and_its_predictions_are_read_back(tmp_path: Path) -> None:
    predictions = (Prediction(instance_id="a", model="m", patch="p\n"),)
    store = RunStore(tmp_path / "run")
    store.save_run(RUN, predictions)
    assert (store.load_run(), store.load_predictions()) == (RUN, predictions)


def test_a_folder_without_a_run_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not a run of Assay"):
        RunStore(tmp_path).load_run()


def test_a_run_that_starts_again_has_no_summary_until_it_ends(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "run")
    verdicts = [Verdict(instance_id="a", outcome=Outcome.RESOLVED)]
    report = build_report(verdicts, ["a"])
    store.save_run(RUN, ())
    store.save_report(report, verdicts)
    assert store.report() == report
    store.save_run(RUN, ())
    assert store.load_report() is None
    assert not (tmp_path / "run/verdicts.jsonl").exists()
    assert store.report().submitted_instances == 0


def test_a_report_that_cannot_be_read_is_made_again_from_the_verdicts(instance: Instance, tmp_path: Path) -> None:
    store = RunStore(tmp_path / "run")
    store.save_run(RUN, [task(instance).prediction])
    save(store, instance)
    (tmp_path / "run/report.json").write_text('{"torn')
    assert store.report().unresolved_ids == [instance.id]


def test_reruns_of_another_patch_and_torn_ones_do_not_count(instance: Instance, tmp_path: Path) -> None:
    store = RunStore(tmp_path / "run")
    save(store, instance)
    for number, key in enumerate(["k", "another", "k", "k"], start=1):
        save(store.rerun(number), instance, key)
    reruns = tmp_path / "run/instances/acme__calc-1/reruns"
    (reruns / "3/evidence.json").write_text("{")
    (reruns / "4/verdict.json").write_text("{")
    saved = store.load_verdict(instance.id)
    assert saved is not None
    assert store.load_reruns(saved) == [evaluation(instance).evidence]


def test_a_comparison_replaces_the_earlier_one_with_its_files(instance: Instance, tmp_path: Path) -> None:
    def compared(key: str) -> SavedPatchDiff:
        finding, suites = PatchDiffFinding.REGRESSION, GeneratorResult(name="suites")
        result = PatchDiffResult(instance_id=instance.id, model="m", finding=finding, generators=(suites,))
        return SavedPatchDiff(key=key, comparison=result)

    store = RunStore(tmp_path / "run")
    store.save_patchdiff(compared("old"), {"test_a.py": "a", "../test_b.py": "b\udcff"})
    folder = tmp_path / "run/instances/acme__calc-1/patchdiff"
    assert {path.name for path in folder.iterdir()} == {"comparison.json", "test_a.py", "test_b.py"}
    assert (folder / "test_b.py").read_text() == "b?"
    assert store.save_patchdiff(compared("new"), {}) == folder
    assert [path.name for path in folder.iterdir()] == ["comparison.json"]
    assert store.load_patchdiff(instance.id) == compared("new")


def test_what_repeated_runs_showed_is_read_back(tmp_path: Path) -> None:
    stability = StabilityFile()
    path = RunStore(tmp_path / "run").save_stability(stability)
    assert path == tmp_path / "run/stability.json"
    assert StabilityFile.model_validate_json(path.read_bytes()) == stability


def test_durations_of_all_runs_are_remembered_and_the_latest_counts(tmp_path: Path) -> None:
    RunStore(tmp_path / "one").save_durations({"a": 1.0, "b": 2.0})
    RunStore(tmp_path / "other").save_durations({"b": 3.0})
    assert RunStore(tmp_path / "third").durations() == {"a": 1.0, "b": 3.0}


def test_durations_that_cannot_be_read_count_as_none(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "run")
    assert store.durations() == {}
    store.save_durations({"a": 1.0})
    (tmp_path / ".index/durations.json").write_text('{"a')
    assert store.durations() == {}


@pytest.mark.parametrize("name", ["instances", "lock", "journal.jsonl", "instances/a/reports"])
def test_a_run_that_leads_elsewhere_is_not_worked_on(tmp_path: Path, name: str) -> None:
    store, outside = RunStore(tmp_path / "run"), tmp_path / "home"
    outside.mkdir()
    (outside / ".profile").write_text("mine")
    (store.root / name).parent.mkdir(parents=True)
    (store.root / name).symlink_to(outside if "." not in name and name != "lock" else outside / ".profile")
    with pytest.raises(UserError, match="is a link or no regular file"), store.lock():
        pass
    assert (outside / ".profile").read_text() == "mine"
