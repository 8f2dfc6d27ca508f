"""Progress of a run on stderr: plain lines elsewhere than on a terminal, one changing line on one."""

import io
import re
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from assay.cli import console
from assay.harness.domain import Instance, Outcome, Verdict
from assay.harness.patchdiff.contract import Settings
from assay.harness.patchdiff.run import PatchDiffRunner
from assay.harness.runs.store import RunStore
from benches import StubBench, make_engine, make_task

pytestmark = pytest.mark.slow


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def open_terminal(monkeypatch: pytest.MonkeyPatch, **variables: str) -> Terminal:
    """Put a terminal in place of standard output and error."""
    terminal = Terminal()
    for stream in ("sys.stderr", "sys.stdout"):
        monkeypatch.setattr(stream, terminal)
    for name, value in {"TERM": "xterm", "CI": "", "COLUMNS": "200", **variables}.items():
        monkeypatch.setenv(name, value)
    return terminal


def compare(instance: Instance, root: Path) -> None:
    """Make one comparison of a second or so, with a note every moment."""
    bench = StubBench(make_engine([instance], seconds=0.2))
    view = console.RunView()
    runner = PatchDiffRunner(RunStore(root / "run"), bench, Settings(("suites",)), note=view.note, every=0.02)
    with view.comparing(1) as progress:
        runner.execute([make_task(instance)], progress)


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
    terminal = open_terminal(monkeypatch)
    compare(instance, tmp_path)
    shown = terminal.getvalue()
    assert "suites: 0 of 1 test files compared, 1 at work" in shown
    assert "\x1b[1A" in shown or "\r" in shown, "the line is written over"
    assert shown.count("[1/1] acme__calc-1: not_assessed") == 1


def test_plain_lines_name_what_is_tested_and_when_it_will_be_done(assay: Callable, rows: Path) -> None:
    lines = assay("evaluate", "rows.jsonl", "--gold", "-j", "1").err.splitlines()
    assert lines[0] == "testing acme__calc-1"
    first, _, last = (line for line in lines if line.startswith("["))
    assert first.startswith("[1/3] acme__calc-1: resolved (")
    assert first.endswith(", about 1 s left")
    assert last.startswith("[3/3] ")
    assert "left" not in last


def test_silence_is_broken_with_what_is_at_work(capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    monkeypatch.setattr(console, "SILENCE", 0.02)
    with console.RunView().evaluating(2, "run", {"a": 60.0}) as progress:
        progress.planned(["a"], 1)
        progress.started(SimpleNamespace(instance=SimpleNamespace(id="a")))  # type: ignore[arg-type]
        deadline = time.monotonic() + 60
        while "[0/2] about" not in (shown := capsys.readouterr().err) and time.monotonic() < deadline:
            time.sleep(0.01)
    assert re.search(r"\[0/2\] about (59|60) s left · testing a\n", shown)


def test_silence_names_what_is_built_until_it_is(capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    monkeypatch.setattr(console, "SILENCE", 0.02)
    view = console.RunView()

    def wait_for_line(text: str) -> None:
        deadline, shown = time.monotonic() + 60, ""
        while f"{text}\n" not in shown and time.monotonic() < deadline:
            shown += capsys.readouterr().err
            time.sleep(0.01)
        assert f"{text}\n" in shown

    with view.show_items(2, "run") as count:
        count.start("a")
        view.note("building image-a (layer 2 of 3)")
        wait_for_line("[0/2] testing a · building image-a (layer 2 of 3)")
        view.note("built image-a in 3.0 s")
        wait_for_line("[0/2] testing a")
        view.note("resolving packages of a")
        count.finish("a: env_error", name="a")
        count.start("b")
        wait_for_line("[1/2] about 1 s left · testing b")


def test_the_row_of_an_env_error_names_the_file_with_all_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    broken = Verdict(instance_id="a", outcome=Outcome.ENV_ERROR, reason="no version of b")
    console.print_verdicts([broken, Verdict(instance_id="c", outcome=Outcome.RESOLVED)], {}, Path("runs/mine"))
    shown = capsys.readouterr().out
    assert "no version of b (runs/mine/instances/a/test_output.txt)" in shown
    assert "instances/c" not in shown


@pytest.mark.parametrize("variables", [{"CI": "1"}, {"TERM": "dumb"}])
def test_a_terminal_that_wants_plain_lines_gets_them(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]
) -> None:
    terminal = open_terminal(monkeypatch, **variables)
    with console.RunView().show_items(1, "run") as count:
        count.start("a")
        count.finish("a: resolved", name="a")
    assert terminal.getvalue() == "testing a\n[1/1] a: resolved\n"


def test_a_terminal_shows_what_is_tested_on_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    with console.RunView().show_items(2, "run", {"a": 30.0, "b": 30.0}) as count:
        count.plan(["a", "b"], 1)
        count.start("a")
        time.sleep(0.3)  # the line is drawn ten times a second
    assert "about 60 s left · testing a" in terminal.getvalue()


def test_a_table_on_a_pipe_is_a_plain_line_for_each_row(capsys: pytest.CaptureFixture[str]) -> None:
    console.print_rows(
        ("instance", "unique MB", "reason"), [("a", "7", "two\nlines [red]x[/red]"), ("long-name", "12", "z" * 300)]
    )
    assert capsys.readouterr().out.splitlines() == [
        "instance   unique MB  reason",
        "a                  7  two lines [red]x[/red]",
        "long-name         12  " + "z" * 300,
    ]


def test_a_table_on_a_terminal_is_framed(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    console.print_rows(("instance", "reason"), [("a", "b")])
    assert "───" in terminal.getvalue()


def test_one_is_no_plural(assay: Callable, rows: Path) -> None:
    rows.write_text(rows.read_text().splitlines()[0] + "\n")
    assay("evaluate", "rows.jsonl", "--gold", "--run-id", "a")
    assay("evaluate", "rows.jsonl", "--null", "--run-id", "b")
    for command in (
        "dataset show rows.jsonl",
        "dataset check rows.jsonl",
        "dataset audit rows.jsonl",
        "dataset validate rows.jsonl -k 1",
        "dataset convert rows.jsonl --to native -o out.jsonl",
        "dataset predictions runs/a -o preds.jsonl",
        "dataset mirror rows.jsonl -o mirrors",
        "evaluate rows.jsonl -p preds.jsonl --patchdiff",
        "solve rows.jsonl --agent gold --evaluate",
        "report show a",
        "report compare a b",
        "report regrade a",
    ):
        done = assay(
            *command.split(), GIT_CONFIG_COUNT="1", GIT_CONFIG_KEY_0="url./x/.insteadOf", GIT_CONFIG_VALUE_0="https://"
        )
        one = re.compile(r"(?<![\d.])1 (good |wrong )?(instances|tests|rows|commits|repositories|runs|verdicts)\b")
        assert not one.search(done.out + done.err), command
