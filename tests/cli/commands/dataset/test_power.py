from collections.abc import Callable
from pathlib import Path

import pytest

from changes import change
from rowfiles import lines
from stand_ins import as_row
from toy import make_instances


@pytest.fixture
def some(in_folder: Path) -> str:
    """Write four rows of a repository, the third with the patch of the first."""
    rows = [as_row(each) for each in make_instances((1, 2, 3, 4))]
    for number, each in enumerate(rows):
        each["patch"] = change("calc.py", adds=[f"x = {number % 2 if number < 3 else number}", "y = 2"])
    return lines(in_folder, *rows)


def test_near_duplicates_are_named_and_count_once(assay: Callable, some: str) -> None:
    done = assay("dataset", "power", some, "--correlation", "1")
    assert done.code == 0, done.err
    assert "near duplicate: acme__calc-3 of acme__calc-1" in done.out
    assert "3 rows show as much as 1 independent ones" in done.out
    found = assay("dataset", "power", some, "--correlation", "0", "--json").json
    assert (found["rows"], found["adds"]) == ({"acme/calc": 3}, {"acme/calc": 3.0})
    assert (found["effective_rows"], found["duplicates"]) == (3.0, {"acme__calc-3": "acme__calc-1"})


def test_two_runs_say_how_often_systems_differ(assay: Callable, rows: Path) -> None:
    for name in ("gold", "null"):
        assert assay("evaluate", "rows.jsonl", f"--{name}", "--run-id", name).code == 0
    found = assay("dataset", "power", "rows.jsonl", "--run", "gold", "--run", "null", "--json").json
    assert (found["differ"], found["correlation"]) == (1.0, 0.0)
    assay("dataset", "power", "rows.jsonl", "--run", "gold").refuses("--run names one of two runs, not of 1")
    one = lines(rows.parent, as_row(make_instances((1,))[0]), name="one.jsonl")
    assay("dataset", "power", one, "--run", "gold", "--run", "null").refuses("has no acme__calc-2")
