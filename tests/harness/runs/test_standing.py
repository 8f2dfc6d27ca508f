import json
import time
from pathlib import Path

import pytest

from assay.harness.domain import DatasetRef, Prediction
from assay.harness.runs.control import listen
from assay.harness.runs.manifest import Run
from assay.harness.runs.standing import Standing, read_state
from assay.harness.runs.store import RunStore
from assay.jobs.evaluate import EvaluationRun
from assay.jobs.workplace import Workplace
from toy import make_instances


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    found = RunStore(tmp_path / "run")
    found.save_run(Run(id="run", dataset=DatasetRef(name="rows"), model="", started="", assay_version="0"), [])
    return found


def test_items_at_work_have_their_stage_until_they_end(store: RunStore) -> None:
    store.journal("planned", count="5", known="1")
    for event, instance in (("started", "a"), ("started", "b"), ("building", "b"), ("testing", "a")):
        store.journal(event, instance)
    standing = Standing(store)
    with listen(store):
        found = read_state(store, standing)
        assert (found.done, found.total, found.seconds_left) == (1, 5, None)
        assert [(each.instance, each.stage) for each in found.at_work] == [("a", "testing"), ("b", "building")]
        with (store.root / "journal.jsonl").open("a", buffering=1) as journal:
            journal.write('{"event": "finished", "insta')
            assert read_state(store, standing).done == 1, "the line is not whole yet"
            journal.write('nce": "a", "outcome": "resolved"}\n')
        store.rerun(1).journal("started", "a")
        found = read_state(store, standing)
        assert (found.done, [each.instance for each in found.at_work], found.latest) == (2, ["b"], (("a", "resolved"),))
        assert found.seconds_left is not None
        store.journal("planned", count="5", known="2")
        assert read_state(store, standing).at_work == (), "another command began"
    assert read_state(store).state == "interrupted"


def test_journal_of_anybody_is_read(store: RunStore) -> None:
    for count in ("nan", "-1", "x", "1e400", [1]):
        for event in ("planned", "jobs", "testing", "finished"):
            odd = {"event": event, "instance": {"a": 1}, **dict.fromkeys(("count", "known", "time", "value"), count)}
            with (store.root / "journal.jsonl").open("a") as journal:
                journal.write(f"{json.dumps(odd)}\n")
        with listen(store):
            assert read_state(store).done >= 0


def test_evaluation_says_when_it_builds_and_when_it_tests(tmp_path: Path) -> None:
    (instance,) = make_instances((1,))
    prediction = Prediction(instance_id=instance.id, model="m", patch=instance.gold_patch)
    run = EvaluationRun("run", tmp_path, Workplace(engine="fake"))
    run.evaluate([(instance, prediction)], [instance.id])
    events = [each["event"] for each in run.store.events()]
    assert events == ["planned", "started", "building", "testing", "saving", "finished"]
    assert float(run.store.events()[-1]["time"]) <= time.time()
