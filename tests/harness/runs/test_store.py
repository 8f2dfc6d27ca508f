import json
from pathlib import Path

import pytest

from assay.harness.domain import (
    Apply,
    ApplyStatus,
    DatasetRef,
    Evidence,
    Instance,
    Outcome,
    Prediction,
    TestPlan,
    Verdict,
)
from assay.harness.errors import UserError
from assay.harness.evaluation.evaluate import Evaluation, Task
from assay.harness.runs.store import Run, RunStore, content_key

PLAN = TestPlan(command="true")


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


def test_report_files_stay_in_their_folder(instance: Instance, tmp_path: Path) -> None:
    save(RunStore(tmp_path / "run"), instance)
    assert (tmp_path / "run/instances/acme__calc-1/reports/report.xml").is_file()
    assert not list(tmp_path.glob("run/instances/acme__calc-1/report.xml"))


@pytest.mark.parametrize("content", ["", "{", '{"key": "k"}', "null"])
def test_a_torn_verdict_counts_as_none(instance: Instance, tmp_path: Path, content: str) -> None:
    store = RunStore(tmp_path / "run")
    save(store, instance)
    (tmp_path / "run/instances/acme__calc-1/verdict.json").write_text(content)
    assert store.load_verdict(instance.id) is None
    assert store.find(instance.id, "k") is None


def test_no_temporary_file_is_left(instance: Instance, tmp_path: Path) -> None:
    save(RunStore(tmp_path / "run"), instance)
    assert not [path for path in tmp_path.rglob(".*") if path.is_file() and path.parent.name != ".index"]


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    first, second = RunStore(tmp_path / "run"), RunStore(tmp_path / "run")
    with first.locked(), pytest.raises(UserError, match="another process"), second.locked():
        pytest.fail("two processes hold one run")


def test_the_journal_only_grows(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    store.journal("planned", count="2")
    store.journal("started", "a")
    lines = [json.loads(line) for line in (tmp_path / "journal.jsonl").read_text().splitlines()]
    assert [(line["event"], line["instance"]) for line in lines] == [("planned", ""), ("started", "a")]


def test_the_key_depends_on_everything_a_verdict_depends_on(instance: Instance) -> None:
    base = task(instance)
    others = [
        task(instance, "y"),
        task(instance.model_copy(update={"fail_to_pass": ("other",)})),
        Task(instance, base.prediction, PLAN.model_copy(update={"command": "false"})),
        Task(instance, base.prediction, PLAN, runs_empty=True),
    ]
    keys = {content_key(each, "1") for each in [base, *others]} | {content_key(base, "2")}
    assert len(keys) == 6


def test_the_key_does_not_depend_on_who_proposed_the_patch(instance: Instance) -> None:
    by_a, by_b = (Prediction(instance_id=instance.id, model=model, patch="x") for model in "ab")
    assert content_key(Task(instance, by_a, PLAN), "1") == content_key(Task(instance, by_b, PLAN), "1")


def test_a_run_and_its_predictions_are_read_back(tmp_path: Path) -> None:
    run = Run(id="r", dataset=DatasetRef(name="d"), model="m", started="now", assay_version="1")
    predictions = (Prediction(instance_id="a", model="m", patch="p\n"),)
    store = RunStore(tmp_path / "run")
    store.save_run(run, predictions)
    assert (store.load_run(), store.load_predictions()) == (run, predictions)


def test_a_folder_without_a_run_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not a run of Assay"):
        RunStore(tmp_path).load_run()
