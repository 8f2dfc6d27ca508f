"""What a person sees while patches are compared: elsewhere than on a terminal, and on one."""

import io
from pathlib import Path

import pytest

from assay.cli import comparing
from assay.harness.domain import Instance, Prediction, TestPlan
from assay.harness.engines.fake import FakeEngine, image_name
from assay.harness.evaluation.evaluate import Task
from assay.harness.patchdiff.contract import Settings
from assay.harness.patchdiff.run import PatchDiffRunner
from assay.harness.runs.executors import find_executor
from assay.harness.runs.store import RunStore

PLAN = TestPlan(command="true", report_path="/tmp/report.json", report_format="status_json")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def comparer(instance: Instance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PatchDiffRunner:
    """Its comparisons take a second or so, and it is to be told of soon."""
    monkeypatch.setattr(comparing, "EVERY", 0.02)
    monkeypatch.setattr(comparing, "EVERY_LIVE", 0.02)
    engine = FakeEngine({image_name(instance): instance}, seconds=0.2)
    return PatchDiffRunner(
        store=RunStore(tmp_path / "run"),
        engine=engine,
        prepare=image_name,
        executor=find_executor("inline"),
        settings=Settings(("suites",)),
        plan_tests=lambda _instance, _files: PLAN,
    )


def compare(comparer: PatchDiffRunner, instance: Instance) -> None:
    task = Task(instance, Prediction(instance_id=instance.id, patch=instance.gold_patch), PLAN)
    with comparing.watched(comparer, 1) as watched:
        watched.execute([task])


def test_a_long_comparison_says_in_plain_lines_what_it_is_at(
    comparer: PatchDiffRunner, instance: Instance, capsys: pytest.CaptureFixture[str]
) -> None:
    compare(comparer, instance)
    lines = capsys.readouterr().err.splitlines()
    assert "acme__calc-1: looking at the trees (0 s)" in lines
    assert any("acme__calc-1: suites: 0 of 1 test files compared, 1 at work (" in line for line in lines)
    assert lines[-1].startswith("[1/1] acme__calc-1: not_assessed (")


def test_on_a_terminal_one_line_changes(
    comparer: PatchDiffRunner, instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("CI", raising=False)
    compare(comparer, instance)
    shown = terminal.getvalue()
    assert "suites: 0 of 1 test files compared, 1 at work" in shown
    assert "\x1b[1A" in shown or "\r" in shown, "the line is written over"
    assert shown.count("[1/1] acme__calc-1: not_assessed") == 1
