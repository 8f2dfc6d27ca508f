import json
from collections.abc import Callable
from pathlib import Path

from rowfiles import lines
from stand_ins import as_row
from toy import make_instances


def test_rows_are_written_as_they_are_and_the_same_command_takes_the_same(assay: Callable, in_folder: Path) -> None:
    given = [{**as_row(each), "difficulty": "easy", "own": [1]} for each in make_instances((1, 2, 3, 4))]
    rows = lines(in_folder, *given)
    done = assay("dataset", "select", rows, "-n", "2", "--by", "difficulty", "-o", "part.jsonl")
    assert (done.code, "2 rows of 4 in part.jsonl" in done.out) == (0, True), done.err
    part = Path("part.jsonl").read_text()
    assert all(json.loads(line) in given for line in part.splitlines())
    assay("dataset", "select", rows, "-n", "2", "--by", "difficulty", "-o", "again.jsonl")
    assert Path("again.jsonl").read_text() == part
    assert assay("evaluate", "part.jsonl", "--gold", "--json").json["resolved_instances"] == 2


def test_a_wrong_condition_is_one_line(assay: Callable, rows: Path) -> None:
    ask = ("dataset", "select", "rows.jsonl", "-o", "part.jsonl")
    assay(*ask, "--by", "yeer").refuses("--by yeer is none; did you mean year?")
    assay(*ask, "--language", "cobol").refuses("no row of rows.jsonl fits")
    assay(*ask, "--without", "solution_in_issue").refuses("give --audit FILE and --without KIND together")
    assert not Path("part.jsonl").exists()
