"""Progress of a run on stderr: plain lines elsewhere than on a terminal, one changing line on one."""

import io
from pathlib import Path

import pytest

from assay.cli import console
from assay.harness.domain import Instance, Prediction
from assay.harness.engines.fake import FakeEngine, image_name
from assay.harness.evaluation.evaluate import Task
from assay.harness.patchdiff.contract import Settings
from assay.harness.patchdiff.run import PatchDiffRunner
from assay.harness.runs.store import RunStore
from benches import PLAN, StubBench


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def compare(instance: Instance, root: Path) -> None:
    """Make one comparison of a second or so, with a note every moment."""
    bench = StubBench(FakeEngine({image_name(instance): instance}, seconds=0.2))
    view = console.RunView()
    runner = PatchDiffRunner(RunStore(root / "run"), bench, Settings(("suites",)), note=view.note, every=0.02)
    task = Task(instance, Prediction(instance_id=instance.id, patch=instance.gold_patch), PLAN)
    with view.comparing(1) as progress:
        runner.execute([task], progress)


def test_a_long_comparison_prints_its_steps_in_lines(
    instance: Instance, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compare(instance, tmp_path)
    lines = capsys.readouterr().err.splitlines()
    assert "acme__calc-1: surveying the trees (0 s)" in lines
    assert any("acme__calc-1: suites: 0 of 1 test files compared, 1 at work (" in line for line in lines)
    assert lines[-1].startswith("[1/1] acme__calc-1: not_assessed (")


def test_a_long_comparison_changes_one_line_of_a_terminal(
    instance: Instance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("CI", raising=False)
    compare(instance, tmp_path)
    shown = terminal.getvalue()
    assert "suites: 0 of 1 test files compared, 1 at work" in shown
    assert "\x1b[1A" in shown or "\r" in shown, "the line is written over"
    assert shown.count("[1/1] acme__calc-1: not_assessed") == 1
