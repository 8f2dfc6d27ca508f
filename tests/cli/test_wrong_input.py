"""Wrong files, folders and names end in one line with exit 2, before anything is built or written."""

import gzip
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from command_reference import leaves
from front_door import Done
from toy import GOLD


def refused(done: Done, *words: str) -> None:
    """Assert that a command was refused before a run began."""
    done.refuses(*words)
    assert not Path("runs").exists()


@pytest.mark.parametrize("command", ["evaluate", "dataset validate", "images build", "solve"])
@pytest.mark.parametrize("option", ["--mirror", "--recipes"])
def test_folder_that_is_none_is_refused(assay: Callable, rows: Path, command: str, option: str) -> None:
    more = {"evaluate": ["--gold"], "solve": ["--agent", "gold"]}.get(command, [])
    refused(assay(*command.split(), "rows.jsonl", *more, option, "nowhere"), "nowhere", "there is no such folder")
    refused(assay(*command.split(), "rows.jsonl", *more, option, "rows.jsonl"), "rows.jsonl", "is no folder")


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("acme__calc.yaml", ["acme__calc.yaml", "into a folder named for its language"]),
        ("pyton/acme__calc.yaml", ["pyton is no language; did you mean python?"]),
        ("python/acme__calc.yml", ["acme__calc.yml", "call it .yaml"]),
        ("python/acme-calc.yaml", ["acme-calc.yaml", "<owner>__<name>.yaml"]),
        ("python/deep/acme__calc.yaml", ["into a folder named for its language"]),
    ],
)
def test_recipe_that_would_not_be_found_is_refused(assay: Callable, rows: Path, file: str, words: list[str]) -> None:
    path = Path("mine") / file
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    refused(assay("evaluate", "rows.jsonl", "--gold", "--recipes", "mine"), *words)


def test_recipe_with_capitals_is_found_and_checked(assay: Callable, rows: Path) -> None:
    path = Path("mine/Python/Acme__CALC.yaml")
    path.parent.mkdir(parents=True)
    path.write_text("test_command: pytest {files}\n")
    assert assay("evaluate", "rows.jsonl", "--gold", "--recipes", "mine").code == 0
    path.write_text("test_comand: pytest {files}\n")
    assay("evaluate", "rows.jsonl", "--gold", "--recipes", "mine", "--run-id", "b").refuses("test_comand")


def test_predictions_are_read_before_the_data_set(assay: Callable, rows: Path) -> None:
    for command in ("evaluate", "diff"):
        refused(assay(command, "no_such_data.jsonl", "-p", "no_such_file.jsonl"), "no_such_file.jsonl")


def test_predictions_come_from_standard_input(
    assay: Callable, rows: Path, predictions: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = predictions({f"acme__calc-{n}": GOLD for n in (1, 2)}).read_bytes()
    for name, content in {"lines": lines, "list": b"[" + b",".join(lines.splitlines()) + b"]"}.items():
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        done = assay("evaluate", "rows.jsonl", "-p", "-", "--run-id", name)
        assert (done.code, "2 of 2 resolved" in done.out) == (0, True), done.err
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    done = assay("evaluate", "rows.jsonl", "-p", "-", "--run-id", "none")
    assert (done.code, len(done.err.splitlines())) == (2, 1)


def test_a_runs_own_predictions_are_evaluated_again(assay: Callable, rows: Path, predictions: Callable) -> None:
    predictions({"acme__calc-1": "no diff"})
    assay("evaluate", "rows.jsonl", "-p", "preds.jsonl", "--run-id", "a")
    done = assay("evaluate", "rows.jsonl", "-p", "runs/a/predictions.jsonl", "--run-id", "b", "--json")
    assert (done.json["model"], done.json["outcomes"]) == ("acme/model", {"acme__calc-1": "patch_rejected"})


def test_rows_of_a_data_set_are_no_predictions(assay: Callable, rows: Path) -> None:
    refused(assay("evaluate", "rows.jsonl", "-p", "rows.jsonl"), "rows.jsonl:1", "model_patch", "is missing")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ["preds.jsonl"]),
        (b"\n\n", ["preds.jsonl"]),
        (b"\xef\xbb\xbf", ["preds.jsonl"]),
        (gzip.compress(b"{}", mtime=0), ["preds.jsonl", "compressed with gzip"]),
        (b"PAR1rest", ["parquet"]),
        (b"\xff\xfe{\x00}\x00", ["not UTF-8"]),
        (b"[]", ["preds.jsonl"]),
        (b"3", ["preds.jsonl"]),
        (b"instance_id,model_patch\n", ["preds.jsonl:1", "not JSON"]),
    ],
)
@pytest.mark.parametrize("name", ["preds.jsonl", "preds.json"])
def test_file_that_holds_no_predictions_is_refused(
    assay: Callable, rows: Path, content: bytes, words: list[str], name: str
) -> None:
    Path(name).write_bytes(content)
    done = assay("evaluate", "rows.jsonl", "-p", name)
    refused(done, *(word.replace("preds.jsonl", name) for word in words))


@pytest.mark.parametrize("change", ["bom", "crlf", "spaces", "list in .jsonl", "lines in .json"])
def test_predictions_of_other_tools_are_read(assay: Callable, rows: Path, predictions: Callable, change: str) -> None:
    path = predictions({f"acme__calc-{n}": GOLD for n in (1, 2)})
    text = path.read_text()
    changed = {
        "bom": "\ufeff" + text,
        "crlf": text.replace("\n", "\r\n"),
        "spaces": f"\n\n{text}\n \n",
        "list in .jsonl": json.dumps([json.loads(line) for line in text.splitlines()], indent=1),
        "lines in .json": text,
    }
    path = path.with_suffix(".json") if change == "lines in .json" else path
    path.write_bytes(changed[change].encode())
    assert "2 of 2 resolved" in assay("evaluate", "rows.jsonl", "-p", path.name).out


@pytest.mark.parametrize("change", ["bom", "crlf"])
def test_rows_of_other_tools_are_read(assay: Callable, rows: Path, change: str) -> None:
    text = rows.read_text()
    rows.write_bytes({"bom": "\ufeff" + text, "crlf": text.replace("\n", "\r\n")}[change].encode())
    assert "3 of 3 resolved" in assay("evaluate", "rows.jsonl", "--gold").out


NONE = [
    ["evaluate", "rows.jsonl", "--gold"],
    ["solve", "rows.jsonl", "--agent", "gold"],
    ["dataset", "validate", "rows.jsonl"],
    ["dataset", "audit", "rows.jsonl", "--mutants", "1"],
    ["images", "build", "rows.jsonl"],
]


@pytest.mark.parametrize("command", NONE, ids=" ".join)
def test_data_set_without_rows_is_refused(assay: Callable, rows: Path, command: list[str]) -> None:
    rows.write_text("")
    refused(assay(*command), "rows", "has no instance")


def test_data_set_without_rows_is_shown_and_checked(assay: Callable, rows: Path) -> None:
    rows.write_text("")
    assert "0 instances of rows" in assay("dataset", "show", "rows.jsonl").out
    assert "0 good instances (none), 0 wrong rows" in assay("dataset", "check", "rows.jsonl").out


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        (["evalute", "rows.jsonl"], "'evaluate'"),
        (["report", "shw", "x"], "'show'"),
        (["evaluate", "rows.jsnol", "--gold"], "did you mean rows.jsonl?"),
        (["evaluate", "lte", "--gold"], "did you mean lite?"),
        (["evaluate", "rows.jsonl", "--gold", "-i", "acme__clac-1"], "acme__calc-1"),
        (["evaluate", "rows.jsonl", "--gold", "--engine", "dokcer"], "did you mean docker?"),
        (["evaluate", "rows.jsonl", "--glod"], "--gold"),
        (["evaluate", "rows.jsonl", "--gold", "--environment", "publishd"], "auto, recipe or published"),
        (["evaluate", "rows.jsonl", "--gold", "--patchdiff", "-g", "suits"], "did you mean suites?"),
        (["solve", "rows.jsonl", "--agent", "bash_lop"], "did you mean bash_loop?"),
        (["dataset", "convert", "rows.jsonl", "--to", "swebnch"], "did you mean swebench?"),
        (["dataset", "audit", "rows.jsonl", "--kind", "no_test_fil"], "did you mean no_test_file?"),
        (["report", "trajectory", "rows.jsonl", "--from", "swegent"], "did you mean sweagent?"),
        (["report", "export", "r", "--format", "swebnch"], "did you mean swebench?"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_unknown_name_suggests_the_nearest(assay: Callable, rows: Path, command: list[str], hint: str) -> None:
    refused(assay(*command), hint)


def test_unknown_prediction_and_run_suggest_the_nearest(assay: Callable, rows: Path, predictions: Callable) -> None:
    predictions({"acme__clac-1": ""})
    refused(assay("evaluate", "rows.jsonl", "-p", "preds.jsonl"), "1 prediction", "did you mean acme__calc-1?")
    assay("evaluate", "rows.jsonl", "--gold")
    assert "did you mean rows.gold?" in assay("report", "show", "row.gold").err


def test_no_option_has_a_number_that_python_names(assay: Callable) -> None:
    for option in ("--jobs=many", "--jobs=0", "--timeout=1.5", "--fail-under=x", "--fail-under=101"):
        refused(assay("evaluate", "rows.jsonl", "--gold", option), option.partition("=")[0], " takes a ", "number")


def test_every_command_has_an_example_in_its_help() -> None:
    assert [path for path, command in leaves() if f"  {path} " not in f"{command.help or ''} "] == []


@pytest.mark.parametrize("command", ["evaluate", "dataset show"])
def test_file_that_may_not_be_read_is_named(assay: Callable, rows: Path, command: str) -> None:
    rows.unlink()
    rows.symlink_to(rows)  # cannot be opened by anyone, not even by root
    done = assay(*command.split(), "rows.jsonl", *(["--gold"] if command == "evaluate" else []))
    assert done.code in {2, 3}
    assert "rows.jsonl" in done.err
    assert len(done.err.strip().splitlines()) == 1
