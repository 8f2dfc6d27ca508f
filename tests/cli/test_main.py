import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from assay import __main__ as entry
from assay.cli import options
from assay.cli.main import GROUPS
from command_reference import leaves


@pytest.mark.parametrize("command", sorted({path.removeprefix("assay ") for path, _ in leaves()} | {*GROUPS}))
def test_every_command_explains_itself(assay: Callable, command: str) -> None:
    done = assay(*command.split(), "--help")
    assert done.code == 0
    assert "Usage: assay" in done.out


def test_help_does_not_import_what_it_does_not_need() -> None:
    program = (
        "import sys; sys.argv = ['assay', '--help']\n"
        "from assay.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'pydantic', 'docker', 'rich', 'git', 'datasets', 'yaml', 'unidiff'}\n"
        "print('LOADED', sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "LOADED []" in done.stdout


def test_version_and_help_are_printed(assay: Callable) -> None:
    assert assay("--version").out.startswith("assay 0.")
    assert "evaluate" in assay().out + assay().err


def test_assay_alone_says_each_command_in_a_whole_sentence_and_where_to_begin(assay: Callable) -> None:
    shown = " ".join((done := assay()).out.split() or done.err.split())
    assert "..." not in shown.partition("Commands:")[2]
    assert "Begin with `assay doctor`, then `assay demo`" in shown


def test_many_options_stand_in_panels_and_examples_come_last(assay: Callable) -> None:
    shown = assay("evaluate", "--help").out
    heads = ["Arguments:", *(f"{title}:" for title in options.PANELS), "Examples:"]
    assert sorted(heads, key=lambda head: shown.index(f"\n{head}")) == heads
    assert "Other options:" not in shown


def test_an_unknown_run_is_refused_with_the_known_ones(assay: Callable, rows: Path) -> None:
    assay("evaluate", "rows.jsonl", "--gold")
    assay("report", "show", "rows.golden").refuses("rows.gold")


def test_reap_and_doctor_answer_in_json(assay: Callable) -> None:
    assert assay("reap", "--json").json == {"removed": []}
    findings = assay("doctor", "--json").json["findings"]
    assert {"engine", "git", "uv", "disk"} <= {finding["what"] for finding in findings}


def test_an_interruption_is_one_line_and_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("assay.cli.main.main", interrupted)
    with pytest.raises(SystemExit) as status:
        entry.main()
    assert (status.value.code, capsys.readouterr().err) == (130, "assay: interrupted\n")


def test_a_command_that_is_interrupted_is_one_line_and_130(
    assay: Callable, rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_args: object, **_more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("assay.instances.dataset.load.load", interrupted)
    monkeypatch.setattr("assay.cli.main._ignore_signals", lambda: None)
    done = assay("dataset", "check", "rows.jsonl")
    assert (done.code, done.out, done.err) == (130, "", "assay: interrupted\n")


@pytest.mark.parametrize("group", [(), ("report",), ("dataset",)])
def test_a_group_without_a_command_prints_its_help(assay: Callable, group: tuple[str, ...]) -> None:
    done = assay(*group)
    assert (done.code, done.err.startswith("Usage: assay")) == (2, True)
