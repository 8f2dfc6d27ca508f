"""The command of a finished run again: nothing is planned, unless anything that its verdicts depend on has changed."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.harness.engines.fake import FakeEngine
from assay.harness.errors import EnvironmentFailure
from assay.jobs import repeated
from toy import GOLD

UNCHANGED = "nothing has changed since"
LABELS = {"instance_id": "acme__calc-2", "FAIL_TO_PASS": ["tests/test_calc.py::test_new"], "PASS_TO_PASS": []}
CALL = ("evaluate", "rows.jsonl", "-p", "preds.jsonl", "--labels", "labels.jsonl", "--recipes", "mine")
RECIPE = Path("mine/python/acme__calc.yaml")
RUN = Path("runs/rows.acme_model.labels")


@pytest.fixture
def finished(
    assay: Callable, rows: Path, predictions: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A finished run whose command names a file of every kind."""
    predictions({"acme__calc-1": GOLD, "acme__calc-2": ""})
    Path("labels.jsonl").write_text(json.dumps(LABELS) + "\n")
    RECIPE.parent.mkdir(parents=True)
    RECIPE.write_text("timeout: 60\n")
    Path("code").mkdir()
    Path("code/rule.py").write_text("RESOLVED = True\n")
    monkeypatch.setattr(repeated, "PACKAGE", Path("code").absolute())
    assert assay(*CALL).code == 0


def list_events() -> list[str]:
    return [json.loads(line)["event"] for line in (RUN / "journal.jsonl").read_text().splitlines()]


@pytest.mark.usefixtures("finished")
def test_nothing_is_planned_again_and_the_same_is_shown(assay: Callable) -> None:
    Path("runs").rename("elsewhere")
    assert UNCHANGED not in (anew := assay(*CALL, "--json")).err
    shutil.rmtree("runs")
    Path("elsewhere").rename("runs")
    events = list_events()
    again = assay(*CALL, "--json")
    assert UNCHANGED in again.err
    assert (again.code, again.json) == (0, anew.json)
    assert list_events() == events
    assert "acme__calc-1" in assay(*CALL).out
    assert assay(*CALL, "--fail-under", "90").code == 5


def change(file: str, old: str, new: str) -> Callable[[], object]:
    def edit() -> None:
        text = Path(file).read_text()
        assert old in text
        Path(file).write_text(text.replace(old, new))

    return edit


def add_counters() -> None:
    Path("cache/counters").mkdir(parents=True)
    Path("cache/counters/key.json").write_text("{}")


def put_back_times() -> None:
    """Change a row without changing its file's size or times."""
    state = Path("rows.jsonl").stat()
    change("rows.jsonl", "1.0", "1.1")()
    os.utime("rows.jsonl", ns=(state.st_atime_ns, state.st_mtime_ns))


CHANGES = {
    "a row": put_back_times,
    "a prediction": change("preds.jsonl", "a + b", "a - b"),
    "the predictions' model": change("preds.jsonl", "acme/model", "acme_model"),
    "the labels": change("labels.jsonl", "test_new", "test_other"),
    "a recipe": change(str(RECIPE), "60", "61"),
    "a new recipe": lambda: RECIPE.with_name("default.yaml").write_text("timeout: 60\n"),
    "the code": change("code/rule.py", "True", "False"),
    "a counter-test": add_counters,
    "a verdict that is gone": lambda: shutil.rmtree(RUN / "instances/acme__calc-1"),
    "a report": change(str(RUN / "report.json"), '"resolved_instances"', '"resolved_instances" '),
}


@pytest.mark.usefixtures("finished")
@pytest.mark.parametrize("changed", CHANGES)
def test_whatever_changes_leads_to_new_plans(assay: Callable, changed: str) -> None:
    events = list_events()
    CHANGES[changed]()
    done = assay(*CALL)
    assert UNCHANGED not in done.err
    assert done.code == 2 or list_events().count("planned") > events.count("planned")  # refused, or planned


@pytest.mark.usefixtures("finished")
@pytest.mark.parametrize(
    "option", [("--strict",), ("--timeout", "7"), ("--fail-fast",), ("--counter", "pair"), ("-i", "acme__calc-1")]
)
def test_another_setting_leads_to_new_plans(assay: Callable, option: tuple[str, ...]) -> None:
    assert UNCHANGED not in assay(*CALL, *option, "--run-id", "other").err


@pytest.mark.usefixtures("finished")
def test_a_run_to_which_another_command_added_is_planned_again(assay: Callable, predictions: Callable) -> None:
    predictions({"acme__calc-3": GOLD}, "more.jsonl")
    assert assay("evaluate", "rows.jsonl", "-p", "more.jsonl", *CALL[4:], "--run-id", RUN.name).code == 0
    assert UNCHANGED not in assay(*CALL).err


@pytest.mark.usefixtures("finished")
def test_a_table_of_tools_beside_the_rows_counts(assay: Callable) -> None:
    Path("run_scripts/acme__calc-1").mkdir(parents=True)
    Path("run_scripts/acme__calc-1/parser.py").write_text("print()\n")
    assert UNCHANGED not in assay(*CALL).err


def test_what_the_infrastructure_failed_is_evaluated_again(
    assay: Callable, rows: Path, predictions: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> str:
        raise EnvironmentFailure("no image")

    predictions({"acme__calc-1": GOLD})
    call = ("evaluate", "rows.jsonl", "-p", "preds.jsonl")
    with monkeypatch.context() as broken:
        broken.setattr(FakeEngine, "act_out", fail)
        assert assay(*call).code == 3
    again = assay(*call)
    assert UNCHANGED not in again.err
    assert again.code == 0
    assert UNCHANGED in assay(*call).err
