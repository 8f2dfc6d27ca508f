"""Runs as one: the report of any parts is that of a single process, and nothing is lost, invented or half there."""

import json
import os
import random
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.harness.domain import Outcome
from assay.harness.errors import UserError
from assay.harness.patchdiff.contract import Settings
from assay.harness.runs.manifest import Run, RunKind
from assay.harness.runs.merge import plan_merge
from assay.harness.runs.store import RunStore
from parts_of_runs import (
    KINDS,
    MIXED,
    SIX,
    change_verdict,
    evaluate,
    in_shards,
    lines,
    make_run,
    merge,
    pairs_of,
    report_bytes,
    write,
)
from tables import read_tables

TABLES = read_tables(__file__)

pytestmark = pytest.mark.slow


def snapshot(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(
    kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=6).filter(lambda kinds: {*kinds} != {"none"}),
    of=st.integers(1, 5),
    seconds=st.lists(st.floats(0, 100), min_size=6, max_size=6),
    controls=st.booleans(),
    rerun=st.integers(0, 1),
    dice=st.randoms(use_true_random=False),
)
def test_the_parts_of_any_run_merge_to_its_report(
    kinds: list[str], of: int, seconds: list[float], controls: bool, rerun: int, dice: random.Random
) -> None:
    pairs, more = pairs_of(kinds), {"controls": controls, "rerun_failed": rerun}
    durations = {each.id: value for each, value in zip(SIX, seconds, strict=True)}
    with tempfile.TemporaryDirectory() as scratch:
        single = evaluate(make_run(Path(scratch) / "a", "run", **more), pairs, len(kinds))
        parts = in_shards(Path(scratch) / "b", pairs, len(kinds), of, durations=durations, **more)
        dice.shuffle(parts)
        output = Path(scratch) / "b" / "run"
        merge(parts, output)
        assert report_bytes(RunStore(output)) == report_bytes(single)
        for name in ("verdicts.jsonl", "predictions.jsonl"):
            assert lines(output / name) == lines(single.root / name)
        one, other = single.load_run(), RunStore(output).load_run()
        assert {*other.merged} == {part.root.name for part in parts}
        changed = {"started": "", "merged": (), "given": {**other.given, "--shard": ""}}
        assert other.model_copy(update=changed) == one.model_copy(update={"started": ""})


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    kinds=st.lists(st.sampled_from(KINDS), min_size=2, max_size=6).filter(lambda kinds: {*kinds} != {"none"}),
    places=st.lists(st.integers(0, 2), min_size=6, max_size=6),
    first=st.integers(1, 3),
)
def test_runs_of_any_different_instances_merge_in_any_steps(kinds: list[str], places: list[int], first: int) -> None:
    pairs = pairs_of(kinds)
    with tempfile.TemporaryDirectory() as scratch:
        single = evaluate(make_run(Path(scratch) / "a", "run"), pairs, len(kinds))
        parts = []
        for place in range(3):
            ids = [each.id for each, where in zip(SIX[: len(kinds)], places, strict=False) if where == place]
            mine = [pair for pair in pairs if pair[0].id in ids]
            if mine:
                part = make_run(Path(scratch) / "b", f"part-{place}")
                part.evaluate(mine, ids)
                parts.append(part.store)
        some = Path(scratch) / "b" / "some"
        merge(parts[:first], some)
        output = Path(scratch) / "b" / "run"
        merge([RunStore(some), *parts[first:]], output)
        unasked = {each.id for each in SIX[: len(kinds)]} - {*RunStore(output).load_run().instance_ids}
        shown, wanted = RunStore(output).load_report(), single.load_report()
        assert shown is not None
        assert wanted is not None
        assert {*wanted.incomplete_ids} - {*shown.incomplete_ids} == unasked, "nobody asked for these in any part"
        if not unasked:
            assert report_bytes(RunStore(output)) == report_bytes(single)


def test_a_merged_run_has_everything_of_its_parts(parts: list[RunStore], tmp_path: Path) -> None:
    merge(parts, tmp_path / "run")
    for part in parts:
        for file in part.root.glob("instances/**/*"):
            if file.is_file():
                copy = tmp_path / "run" / file.relative_to(part.root)
                assert copy.read_bytes() == file.read_bytes()
                assert copy.samefile(file), "one file on the disk"
    events = RunStore(tmp_path / "run").events()
    assert [event["event"] for event in events].count("finished") == 5
    assert [event["time"] for event in events] == sorted(event["time"] for event in events)
    assert (events[-1]["event"], events[-1]["runs"]) == ("merged", ", ".join(part.root.name for part in parts))


def test_on_another_disk_files_are_copied(
    parts: list[RunStore], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refuse)
    report = merge(parts, tmp_path / "run")
    assert report.submitted_instances == 5
    name = parts[0].load_predictions()[0].instance_id
    copy, original = (each / "instances" / name / "patch.diff" for each in (tmp_path / "run", parts[0].root))
    assert copy.read_bytes() == original.read_bytes()
    assert not copy.samefile(original)


def test_figures_of_comparisons_are_those_of_a_single_run(tmp_path: Path) -> None:
    pairs = pairs_of(["gold", "wrong", "gold", "gold"])
    more = {"patchdiff": Settings(("suites",), budget=60)}
    single = evaluate(make_run(tmp_path / "a", "run", **more), pairs[::-1], 4)
    merge(in_shards(tmp_path / "b", pairs, 4, 2, **more), tmp_path / "b" / "run")
    report = RunStore(tmp_path / "b" / "run").load_report()
    assert report is not None
    assert report.patchdiff is not None
    assert report.patchdiff.compared == 3
    assert report_bytes(RunStore(tmp_path / "b" / "run")) == report_bytes(single)


def test_controls_are_merged_beside_the_run(tmp_path: Path) -> None:
    parts = in_shards(tmp_path, pairs_of(["gold", "wrong", "empty"]), 3, 2, controls=True)
    report = merge(parts, tmp_path / "run")
    assert report.operational_instances == 3
    gold = RunStore(tmp_path / "run.control-gold").load_report()
    assert gold is not None
    assert gold.resolved_instances == 3
    assert RunStore(tmp_path / "run.control-null").load_run().kind is RunKind.CONTROL


def test_controls_that_are_gone_are_missing(tmp_path: Path) -> None:
    parts = in_shards(tmp_path, pairs_of(["gold", "wrong"]), 2, 2, controls=True)
    shutil.rmtree(tmp_path / "run.shard-2-of-2.control-null")
    assert plan_merge(parts, "run").missing == (f"{tmp_path}/run.shard-2-of-2.control-null is not there",)


def test_missing_parts_are_named_and_come_later(parts: list[RunStore], tmp_path: Path) -> None:
    single = evaluate(make_run(tmp_path / "a", "run"), pairs_of(MIXED), 6)
    planned = plan_merge([parts[0], parts[2]], "run")
    assert planned.missing == ("shard 2/3 is not among the runs",)
    report = write(planned, tmp_path / "run")
    assert report.submitted_instances == len(parts[0].load_predictions()) + len(parts[2].load_predictions())
    assert [shard.number for shard in RunStore(tmp_path / "run").load_run().shards] == [1, 3]
    half = tmp_path / "half"
    write(plan_merge([parts[0]], "half"), half)
    assert plan_merge([RunStore(half), parts[1]], "run").missing == ("shard 3/3 is not among the runs",)
    assert plan_merge([RunStore(half), parts[1], parts[2]], "run").run.shards == ()
    merge([RunStore(half), *parts[1:]], tmp_path / "run")
    assert report_bytes(RunStore(tmp_path / "run")) == report_bytes(single)


def test_a_part_that_has_not_finished_is_missing(parts: list[RunStore]) -> None:
    (parts[1].root / "report.json").unlink()
    name = parts[1].load_predictions()[0].instance_id
    parts[1].forget(name)
    assert plan_merge(parts, "run").missing == (
        f"{parts[1].root} has not finished; run its command again",
        f"no run has a verdict on {name}",
    )


def test_what_is_there_twice_counts_once(parts: list[RunStore], tmp_path: Path) -> None:
    shutil.copytree(parts[0].root, tmp_path / "copy")
    report = merge(parts, tmp_path / "run")
    planned = plan_merge([*parts, RunStore(tmp_path / "copy")], "run")
    assert planned.twice == tuple(sorted(each.instance_id for each in parts[0].load_predictions()))
    assert planned.missing == ()
    assert write(planned, tmp_path / "run") == report


def test_two_answers_for_one_instance_are_refused(parts: list[RunStore], tmp_path: Path) -> None:
    other = RunStore(tmp_path / "copy")
    shutil.copytree(parts[0].root, other.root)
    name = change_verdict(other, Outcome.TIMED_OUT)
    with pytest.raises(UserError, match=rf"{name} is \w+ in .*/run.shard-1-of-3 and timed_out in .*/copy"):
        plan_merge([*parts, other], "run")


@pytest.mark.parametrize("is_first", [True, False])
def test_a_failure_of_the_infrastructure_gives_way(parts: list[RunStore], tmp_path: Path, is_first: bool) -> None:
    wanted = merge(parts, tmp_path / "wanted")
    other = RunStore(tmp_path / "copy")
    shutil.copytree(parts[0].root, other.root)
    change_verdict(other, Outcome.INFRA_ERROR)
    report = merge([other, *parts] if is_first else [*parts, other], tmp_path / "run")
    assert report.outcomes == wanted.outcomes


def test_another_patch_for_one_instance_is_refused(tmp_path: Path) -> None:
    one = evaluate(make_run(tmp_path, "one"), pairs_of(["gold"]), 1)
    two = evaluate(make_run(tmp_path, "two"), pairs_of(["wrong"]), 1)
    with pytest.raises(UserError, match=r"two has another patch, or model, for .* than .*one; leave"):
        plan_merge([one, two], "run")


def test_other_content_for_one_instance_is_refused(tmp_path: Path) -> None:
    one, two = (evaluate(make_run(tmp_path, name), pairs_of(["gold"]), 1) for name in ("one", "two"))
    saved = two.load_verdicts()[0]
    two.save_verdict(saved.model_copy(update={"key": "0" * 64}))
    with pytest.raises(UserError, match=r"two evaluated .* with other content than"):
        plan_merge([one, two], "run")


def manifest_changed(store: RunStore, **changes: Any) -> None:
    run = json.loads((store.root / "run.json").read_text())
    (store.root / "run.json").write_text(json.dumps({**run, **changes}))


@pytest.mark.parametrize(("changes", "words"), TABLES["runs_that_were_not_made_alike_are_refused"])
def test_runs_that_were_not_made_alike_are_refused(
    parts: list[RunStore], tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    manifest_changed(parts[1], **changes)
    with pytest.raises(UserError, match=words) as caught:
        plan_merge(parts, "run")
    assert str(parts[1].root) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_changes_no_result_may_differ(parts: list[RunStore], tmp_path: Path) -> None:
    run = parts[1].load_run()
    manifest_changed(
        parts[1],
        settings={**run.settings, "jobs": "64"},
        host={**run.host, "python": "3.99"},
        engine={**run.engine, "NCPU": "64"},
    )
    merge(parts, tmp_path / "run")
    about = RunStore(tmp_path / "run").load_run()
    assert about.settings["jobs"] == "1, 64"
    assert "3.99" in about.host["python"]
    assert about.engine == {"engine": "fake", "NCPU": "64"}


def test_a_mark_of_an_oracle_stays(parts: list[RunStore], tmp_path: Path) -> None:
    for part, mark in ((parts[0], "files"), (parts[2], "files, gold patch")):
        manifest_changed(part, settings={**part.load_run().settings, "oracle": mark})
    merge(parts, tmp_path / "run")
    assert RunStore(tmp_path / "run").load_run().oracle == "files, gold patch"


def test_nobodys_files_are_replaced(parts: list[RunStore], tmp_path: Path) -> None:
    other = evaluate(make_run(tmp_path, "other"), pairs_of(["gold"]), 1)
    mine = tmp_path / "mine"
    (mine / ".git").mkdir(parents=True)
    (mine / ".git/config").write_text("precious")
    before = snapshot(tmp_path)
    for output, words in (
        (other.root, "holds a run that no merge made"),
        (parts[0].root, "is one of the runs"),
        (tmp_path / "." / parts[0].root.name, "is one of the runs"),
        (mine, "is not empty and holds no merged run"),
    ):
        with pytest.raises(UserError, match=words):
            write(plan_merge(parts, "run"), output)
    assert snapshot(tmp_path) == before


def test_a_merged_run_that_was_gone_on_with_is_nobodys_to_replace(parts: list[RunStore], tmp_path: Path) -> None:
    pairs = pairs_of(MIXED)
    merge(parts, tmp_path / "run")
    evaluate(make_run(tmp_path, "run"), pairs, 6)
    with pytest.raises(UserError, match="holds a run that no merge made"):
        write(plan_merge(parts, "run"), tmp_path / "run")


def test_a_merged_run_is_resumed_like_any_other(parts: list[RunStore], tmp_path: Path) -> None:
    pairs = pairs_of(MIXED)
    write(plan_merge(parts[:2], "run"), tmp_path / "run")
    wanted = make_run(tmp_path, "run")
    evaluate(wanted, pairs, 6)
    single = evaluate(make_run(tmp_path / "a", "run"), pairs, 6)
    assert report_bytes(wanted.store) == report_bytes(single)
    assert wanted.store.load_run().shards == ()


def test_merged_again_after_a_part_has_changed_it_is_as_new(parts: list[RunStore], tmp_path: Path) -> None:
    merge(parts, tmp_path / "run")
    (tmp_path / "run/instances/stranger").mkdir()
    name = change_verdict(parts[0], Outcome.TIMED_OUT)
    report = merge(parts, tmp_path / "run")
    assert report.outcomes[name] is Outcome.TIMED_OUT
    assert merge(parts, tmp_path / "new/run") == report
    trees = [{path.relative_to(root) for path in root.rglob("*")} for root in (tmp_path / "run", tmp_path / "new/run")]
    assert trees[0] == trees[1]


def test_durations_of_a_merged_run_are_known_beside_it(parts: list[RunStore], tmp_path: Path) -> None:
    for part in parts:
        for saved in part.load_verdicts():
            part.save_verdict(saved.model_copy(update={"seconds": 7.0}))
    merge(parts, tmp_path / "elsewhere/run")
    known = RunStore(tmp_path / "elsewhere/run").durations()
    assert set(known.values()) == {7.0}
    assert len(known) == 5


def test_sources_are_not_changed(parts: list[RunStore], tmp_path: Path) -> None:
    before = snapshot(tmp_path)
    merge(parts, tmp_path / "new" / "run")
    report = write(plan_merge(parts, "run"), tmp_path / "new" / "run")
    RunStore(tmp_path / "new/run").save_verdict(RunStore(tmp_path / "new/run").load_verdicts()[0])
    change_verdict(RunStore(tmp_path / "new/run"), Outcome.TIMED_OUT)
    assert report.submitted_instances == 5
    assert {path: content for path, content in snapshot(tmp_path).items() if path in before} == before


def test_a_hostile_journal_stops_nothing(parts: list[RunStore], tmp_path: Path) -> None:
    with (parts[0].root / "journal.jsonl").open("a") as journal:
        journal.write('{"time": "noon", "event": "x"}\n[]\n{"event": "y"}\n{"torn')
    merge(parts, tmp_path / "run")
    assert {"x", "y"} <= {event["event"] for event in RunStore(tmp_path / "run").events()}


def test_a_run_of_an_older_version_without_parts_is_read(parts: list[RunStore]) -> None:
    run = json.loads((parts[0].root / "run.json").read_text())
    older = {key: value for key, value in run.items() if key not in {"shards", "merged"}}
    assert Run.model_validate(older).shards == ()
