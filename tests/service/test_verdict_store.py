"""Verdicts on disk: one run has one patch of each instance, and every crash leaves what was finished."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from assay import Evaluator, UserError
from assay.harness.evaluation.evaluate import Task
from assay.harness.runs.keys import content_key
from assay.harness.runs.manifest import RunKind
from assay.harness.runs.store import RunStore
from assay.service.verdict_store import VerdictStore
from toy import GOLD, make_instances


@pytest.fixture
def evaluator() -> Evaluator:
    return Evaluator(make_instances((1, 2)), engine="fake", jobs=1)


def judge_and_save(evaluator: Evaluator, store: VerdictStore, name: str, patch: str) -> str:
    task: Task = evaluator.place.task(*evaluator.pair(name, patch))
    key = content_key(task)
    verdict, evaluation = evaluator.judge_task(task)
    store.save(task, evaluation, verdict, key)
    return key


def other(number: int) -> str:
    return GOLD.replace("+    return a + b", f"+    return a * {number}")


def test_verdicts_are_found_by_their_content_also_by_another_process(evaluator: Evaluator, tmp_path: Path) -> None:
    store = VerdictStore(tmp_path / "verdicts", evaluator.place.bench)
    keys = [judge_and_save(evaluator, store, "acme__calc-1", patch) for patch in (GOLD, other(2))]
    again = VerdictStore(tmp_path / "verdicts", evaluator.place.bench)
    found = [again.find(key) for key in keys]
    assert [each.verdict.resolved for each in found if each] == [True, False]
    assert again.find("0" * 64) is None


def test_every_patch_of_an_instance_is_in_a_run_of_its_own_that_reports_read(
    evaluator: Evaluator, tmp_path: Path
) -> None:
    for process in range(3):
        store = VerdictStore(tmp_path, evaluator.place.bench)
        for number in range(3):
            judge_and_save(evaluator, store, "acme__calc-1", other(3 * process + number))
        judge_and_save(evaluator, store, "acme__calc-2", other(process))
    stores = [RunStore(path.parent) for path in sorted(tmp_path.glob("*/run.json"))]
    assert [store.report().submitted_instances for store in stores] == [2, 2, 2, 1, 1, 1, 1, 1, 1]
    assert {store.load_run().kind for store in stores} == {RunKind.SERVE}
    assert all(store.report().incomplete_ids == [] for store in stores)


def test_patches_that_are_saved_at_once_are_all_kept(
    evaluator: Evaluator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    really = Path.rename

    def rename(path: Path, target: Path) -> Path:
        """Leave a moment in which an instance's folder is being replaced, and is not there."""
        done = really(path, target)
        time.sleep(0.01 if target.name.endswith(".old") else 0)
        return done

    monkeypatch.setattr(Path, "rename", rename)
    store = VerdictStore(tmp_path, evaluator.place.bench)
    with ThreadPoolExecutor(16) as pool:
        keys = [*pool.map(lambda number: judge_and_save(evaluator, store, "acme__calc-1", other(number)), range(50))]
    assert [key for key in keys if VerdictStore(tmp_path, evaluator.place.bench).find(key) is None] == []
    kept = [RunStore(path.parent).load_verdict("acme__calc-1") for path in tmp_path.glob("*/run.json")]
    assert sorted(each.key for each in kept if each) == sorted(keys)


def test_a_torn_line_of_a_crash_costs_no_later_report(evaluator: Evaluator, tmp_path: Path) -> None:
    judge_and_save(evaluator, VerdictStore(tmp_path, evaluator.place.bench), "acme__calc-1", GOLD)
    (run,) = tmp_path.glob("*/run.json")
    with (run.parent / "predictions.jsonl").open("a") as file:
        file.write('{"instance_id": "acme__ca')
    judge_and_save(evaluator, VerdictStore(tmp_path, evaluator.place.bench), "acme__calc-2", GOLD)
    assert [each.instance_id for each in RunStore(run.parent).load_predictions()] == ["acme__calc-1", "acme__calc-2"]


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff\xfe"])
def test_a_damaged_verdict_is_none(evaluator: Evaluator, tmp_path: Path, damage: bytes) -> None:
    store = VerdictStore(tmp_path, evaluator.place.bench)
    key = judge_and_save(evaluator, store, "acme__calc-1", GOLD)
    (verdict,) = tmp_path.rglob("verdict.json")
    verdict.write_bytes(damage)
    assert store.find(key) is None


def test_a_folder_has_one_service(evaluator: Evaluator, tmp_path: Path) -> None:
    with (
        VerdictStore(tmp_path, evaluator.place.bench).lock(),
        pytest.raises(UserError, match="another service keeps its verdicts"),
        VerdictStore(tmp_path, evaluator.place.bench).lock(),
    ):
        pass
