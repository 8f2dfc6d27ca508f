"""Merges that are killed, that wait, or that lose something on the way."""

import os
import shutil
from pathlib import Path

import pytest

from assay.harness.domain import Outcome
from assay.harness.errors import UserError
from assay.harness.runs.store import RunStore
from killing import killed
from parts_of_runs import SIX, change_verdict, in_shards, merge, pairs_of

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("was_there", [False, True])
def test_killed_at_any_touch_of_the_disk_it_never_looks_whole_and_can_be_finished(
    tmp_path: Path, was_there: bool
) -> None:
    parts = in_shards(tmp_path, pairs_of(["gold", "wrong", "prose"]), 3, 2)
    changed = tmp_path / "before"
    shutil.copytree(tmp_path, changed, ignore=shutil.ignore_patterns("before"))
    before = [RunStore(changed / part.root.name) for part in parts]
    change_verdict(before[0], Outcome.TIMED_OUT)
    wanted = merge(parts, tmp_path / "reference/run")
    touch, died = 0, True
    while died:
        touch += 1
        output = tmp_path / str(touch) / "run"
        earlier = merge(before, output) if was_there else None
        died = killed(touch, output.parent, lambda: merge(parts, output))  # noqa: B023
        shown = RunStore(output).load_report()
        assert shown in (None, wanted, earlier), touch
        if shown is not None:
            assert shown.outcomes == {
                each.verdict.instance_id: each.verdict.outcome for each in RunStore(output).load_verdicts()
            }
        assert merge(parts, output) == wanted
        assert [path for path in output.rglob("*") if path.name.startswith(".")] == []
        assert (output / "report.json").read_bytes() == (tmp_path / "reference/run/report.json").read_bytes()
    assert touch > 30


def test_all_is_on_the_disk_before_there_is_a_report(
    parts: list[RunStore], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output, seen = RunStore(tmp_path / "run"), list[tuple[int, bool]]()
    monkeypatch.setattr(os, "sync", lambda: seen.append((len(output.load_verdicts()), output.load_report() is None)))
    merge(parts, output.root)
    assert seen == [(5, True)]


def test_merging_takes_the_lock(parts: list[RunStore], tmp_path: Path) -> None:
    merge(parts, tmp_path / "run")
    with RunStore(tmp_path / "run").lock(), pytest.raises(UserError, match="another process is running in"):
        merge(parts, tmp_path / "run")


def test_a_merge_that_lost_a_verdict_on_its_way_writes_no_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = in_shards(tmp_path, pairs_of(["gold", "wrong", "gold"]), 3, 2)
    adopt = RunStore.adopt

    def losing(self: RunStore, instance_id: str, other: RunStore) -> None:
        adopt(self, instance_id, other)
        if instance_id == SIX[0].id:
            self.forget(instance_id)

    monkeypatch.setattr(RunStore, "adopt", losing)
    with pytest.raises(UserError, match=f"did not take what was evaluated of {SIX[0].id}"):
        merge(parts, tmp_path / "run")
    assert not (tmp_path / "run/report.json").exists()
    monkeypatch.undo()
    merge(parts, tmp_path / "run")
