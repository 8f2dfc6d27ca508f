from collections.abc import Callable
from pathlib import Path

from rowfiles import lines
from stand_ins import as_row
from toy import make_instances


def test_two_data_sets_stand_side_by_side(assay: Callable, rows: Path, in_folder: Path) -> None:
    more = [as_row(each) for each in make_instances((4, 5), problem_statement="add fails " * 40)]
    Path("more").mkdir()
    other = lines(Path("more"), *more)
    done = assay("dataset", "profile", "rows.jsonl", other)
    assert done.code == 0, done.err
    words = [line.split() for line in done.out.splitlines()]
    assert ["instances", "3", "2"] in words
    assert any(line[:3] == ["words", "of", "the"] and line[-1] == "100%" for line in words)
    found = assay("dataset", "profile", "rows.jsonl", other, "--json").json
    assert (found["datasets"], found["instances"]) == (["rows.jsonl", other], [3, 2])
    assert assay("dataset", "profile", "rows.jsonl", "--json").json["measures"][0]["second_larger"] is None


def test_a_wrong_question_is_one_line(assay: Callable, rows: Path) -> None:
    assay("dataset", "profile", "rows.jsonl", "rows.jsonl").refuses("is the same data set twice")
    assay("dataset", "profile", "no.jsonl").refuses("no.jsonl")
    assay("dataset", "profile", "rows.jsonl", "lite", "-i", "acme__calc-1").refuses("-i chooses instances of one")
