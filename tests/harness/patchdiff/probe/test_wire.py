import json
from pathlib import Path

import pytest

from assay.harness.patchdiff.probe import wire


def test_work_budget_counts_processor_seconds_and_ends_waiting_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, shown = [100.0], tmp_path / "usage"
    monkeypatch.setattr(wire.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(wire, "CLOCKS", ((str(tmp_path / "none"), float), (str(shown), lambda text: int(text) / 1e9)))
    shown.write_text("5000000000")
    deadline = wire.WorkBudget(8.0)
    now[0], _ = 110.0, shown.write_text("7000000000")
    assert deadline.remaining() == 6.0, "two seconds of work in ten by the clock"
    now[0] = 100.0 + 8 * wire.PATIENCE
    assert deadline.is_spent(), "nobody waits for ever"


def test_too_many_observations_end_in_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "LARGEST", 50)
    with (tmp_path / "out").open("wb") as out:
        for number in range(9):
            wire.write_line(out, {"key": f"probe {number}"})
        wire.write_line(out, {"end": wire.DONE})
    lines = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
    assert lines == [{"key": "probe 0"}, {"key": "probe 1"}, {"key": "probe 2"}, {"end": "done"}]
