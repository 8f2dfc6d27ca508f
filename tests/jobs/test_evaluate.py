"""A run's folder has a name that says what was run, and that a later command can give."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

import many_instances
from assay.choices import CounterChoice
from assay.harness.domain import CounterForm, CounterSet, CounterTest, Instance, Prediction
from assay.harness.runs.keys import counters_key
from assay.harness.runs.manifest import RunKind
from assay.harness.runs.store import RunStore
from assay.harness.sequences import keep_items
from assay.jobs.evaluate import EvaluationRun, control_pairs, run_name
from assay.jobs.workplace import Workplace


@pytest.mark.parametrize(
    ("dataset", "name"),
    [
        ("lite", "lite.gold"),
        ("rows/my rows.jsonl", "my_rows.gold"),
        ("princeton-nlp/SWE-bench_Lite", "SWE-bench_Lite.gold"),
        (".", "calc.gold"),
        ("..", "sets.gold"),
        ("tests/..", "calc.gold"),
        ("/", "dataset.gold"),
    ],
)
def test_a_run_is_named_after_its_data_set(
    dataset: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "sets" / "calc"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    assert run_name(dataset, "gold") == name


@pytest.mark.parametrize("jobs", [1, 4])
def test_a_run_whose_tasks_are_on_the_disk_gives_the_same_verdicts(
    jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def saved(folder: str) -> tuple[RunStore, Sequence[tuple[str, str, str]]]:
        run = EvaluationRun("many", tmp_path / folder, Workplace(engine="fake", jobs=jobs))
        pairs = [*many_instances.pairs(40)]
        run.evaluate(pairs[:30], [instance.id for instance, _ in pairs])
        run.evaluate(pairs, [instance.id for instance, _ in pairs])
        found = run.store.load_verdicts()
        return run.store, [(each.key, each.verdict.instance_id, each.verdict.outcome) for each in found]

    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    in_memory, expected = saved("memory")
    monkeypatch.setattr("assay.jobs.workplace.keep_items", partial(keep_items, most=2))
    on_disk, found = saved("disk")
    assert found == expected
    assert on_disk.load_report() == in_memory.load_report()
    assert len({outcome for _, _, outcome in found}) > 2
    assert (tmp_path / "cache").is_dir()
    assert [event["count"] for event in on_disk.events() if event["event"] == "planned"] == ["30", "40"]
    assert [event["known"] for event in on_disk.events() if event["event"] == "planned"] == ["0", "30"]


def test_controls_are_paired_when_they_are_asked_for() -> None:
    found = [*many_instances.instances(3)]
    gold, null = control_pairs(found, "gold"), control_pairs(found, "null")
    assert [(each.id, prediction.patch) for each, prediction in gold] == [(each.id, each.gold_patch) for each in found]
    assert [prediction.patch for _, prediction in null] == ["", "", ""]
    assert {prediction.model for _, prediction in (*gold, *null)} == {"gold", "null"}


@pytest.mark.parametrize("choice", list(CounterChoice))
def test_known_counter_tests_run_beside_the_tests_by_default(
    choice: CounterChoice, instance: Instance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    place, prediction = Workplace(engine="fake", counter=choice), Prediction(instance_id=instance.id, patch="x")
    before = place.task(instance, prediction)
    assert before.counters is None
    test = CounterTest(label=instance.fail_to_pass[0], form=CounterForm.NEAR, edits={})
    known = CounterSet(instance_id=instance.id, environment="", files={}, tests=(test,))
    (tmp_path / "counters").mkdir()
    (tmp_path / "counters" / f"{counters_key(before)}.json").write_text(known.model_dump_json())
    assert (place.task(instance, prediction).counters == known) == (choice is CounterChoice.BESIDE)
    assert Workplace(engine="fake", strict=True).task(instance, prediction).counters == known


@pytest.mark.parametrize("is_stopped", [False, True])
def test_what_is_evaluated_ahead_is_found_unless_it_was_stopped(tmp_path: Path, is_stopped: bool) -> None:
    """A container that a signal ended says nothing of its patch."""
    [pair] = many_instances.pairs(1)
    run = EvaluationRun("r", tmp_path, Workplace(engine="fake"), kind=RunKind.EVALUATE_SOLVED)
    with run.ahead(1, lambda: is_stopped) as evaluate:
        evaluate(pair)
    assert bool(run.store.load_verdict(pair[0].id)) is not is_stopped
    run.evaluate([pair], [pair[0].id])
    planned = [event for event in run.store.events() if event["event"] == "planned"]
    assert planned[-1]["known"] == str(int(not is_stopped))
